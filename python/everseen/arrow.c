/* Arrays of the Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html */
#include <stdlib.h>
#include <string.h>

#include "_everseen.h"

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

/* Describes an array of strings or bytes as a batch.    Returns false with an exception set. */
static bool batch_of_arrow(const struct ArrowSchema* schema, const struct ArrowArray* array, batch* into) {
  const char* const format = schema->format;
  const bool is_short = strcmp(format, "u") == 0 || strcmp(format, "z") == 0;
  const bool is_long = strcmp(format, "U") == 0 || strcmp(format, "Z") == 0;
  const bool is_fixed = strncmp(format, "w:", 2) == 0;
  if (schema->dictionary || !(is_short || is_long || is_fixed)) {
    PyErr_Format(PyExc_TypeError,
                 "keys of the Arrow format '%s'%s; cast them to string or binary", format,
                 schema->dictionary ? " in a dictionary" : "");
    return false;
  }
  const unsigned char* const validity = array->n_buffers > 0 ? array->buffers[0] : NULL;
  for (int64_t i = 0; validity && array->null_count != 0 && i < array->length; ++i) {
    const int64_t at = array->offset + i;
    if (validity[at / 8] >> (at % 8) & 1) continue;
    PyErr_Format(PyExc_ValueError, "key %lld is null; drop or fill nulls first", (long long)i);
    return false;
  }
  into->count = (size_t)array->length;
  if (is_fixed) {
    into->layout = as_fixed;
    into->width = (size_t)strtoull(format + 2, NULL, 10);
    into->bytes = (const char*)array->buffers[1] + (size_t)array->offset * into->width;
    return true;
  }
  into->layout = is_short ? as_offsets32 : as_offsets64;
  into->offsets = (const char*)array->buffers[1] + (size_t)array->offset * (is_short ? 4 : 8);
  into->bytes = array->buffers[2];
  return true;
}

/* judge_arrow(schema capsule, array capsule, adds, times) */
PyObject* judge_arrow(filter_object* self, PyObject* arguments) {
  PyObject *schema_capsule, *array_capsule, *times;
  int adds;
  if (!PyArg_ParseTuple(arguments, "OOpO:judge_arrow", &schema_capsule, &array_capsule, &adds, &times) ||
      !is_open(self))
    return NULL;
  const struct ArrowSchema* schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
  const struct ArrowArray* array = schema ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
  batch b = {0};
  if (!array || !batch_of_arrow(schema, array, &b)) return NULL;
  return run(self, &b, adds, times);
}
