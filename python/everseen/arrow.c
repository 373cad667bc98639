/* Arrays of the Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html */
#include <limits.h>
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

/* The width of the format w:WIDTH, -1 of any other. */
static Py_ssize_t width_of(const char* format) {
  if (strncmp(format, "w:", 2) != 0 || format[2] == '\0') return -1;
  Py_ssize_t width = 0;
  for (const char* digit = format + 2; *digit; ++digit) {
    if (*digit < '0' || *digit > '9' || width > (PY_SSIZE_T_MAX - (*digit - '0')) / 10) return -1;
    width = width * 10 + (*digit - '0');
  }
  return width;
}

static bool refuse(const char* why) {
  PyErr_Format(PyExc_ValueError, "an Arrow array %s", why);
  return false;
}

/* Whether an array's description is possible. unit: bytes of an element of its second buffer. */
static bool is_possible(const struct ArrowArray* array, int64_t buffers, Py_ssize_t unit) {
  if (array->length < 0) return refuse("of a negative length");
  if (array->offset < 0) return refuse("with a negative offset");
  const int64_t most = PY_SSIZE_T_MAX / (unit > 0 ? unit : 1) - 1; /* there is one offset more than keys */
  if (array->offset > most || array->length > most - array->offset) return refuse("that exceeds the memory");
  if (array->n_buffers < buffers) return refuse("with too few buffers for its format");
  if (array->length > 0 && (!array->buffers || (!array->buffers[1] && unit > 0))) return refuse("without its buffers");
  return true;
}

/* Describes an array of strings or bytes as a batch.    Returns false with an exception set. */
static bool batch_of_arrow(const struct ArrowSchema* schema, const struct ArrowArray* array, batch* into) {
  if (!schema->release || !array->release) return refuse("that was released");
  const char* const format = schema->format ? schema->format : "";
  const bool is_short = strcmp(format, "u") == 0 || strcmp(format, "z") == 0;
  const bool is_long = strcmp(format, "U") == 0 || strcmp(format, "Z") == 0;
  const Py_ssize_t width = width_of(format);
  if (schema->dictionary || !(is_short || is_long || width >= 0)) {
    PyErr_Format(PyExc_TypeError,
                 "keys of the Arrow format '%s'%s; cast them to string or binary", format,
                 schema->dictionary ? " in a dictionary" : "");
    return false;
  }
  const Py_ssize_t unit = width >= 0 ? width : is_short ? 4 : 8;
  if (!is_possible(array, width >= 0 ? 2 : 3, unit)) return false;
  if (array->length == 0) return true; /* its buffers may be null */
  into->count = (size_t)array->length;
  const char* const first = array->buffers[1] ? (const char*)array->buffers[1] + array->offset * unit : NULL;
  if (width >= 0) {
    into->layout = as_fixed;
    into->width = (size_t)width;
    into->bytes = first;
    return true;
  }
  into->layout = is_short ? as_offsets32 : as_offsets64;
  into->offsets = first;
  into->bytes = array->buffers[2];
  return true;
}

/* A byte for each key, 1 if it is null; null if none is.    Returns false if there is no memory. */
static bool nulls_of(const struct ArrowArray* array, uint8_t** into) {
  const uint8_t* const validity = array->length > 0 ? array->buffers[0] : NULL;
  *into = NULL;
  if (!validity || array->null_count == 0) return true;
  *into = malloc((size_t)array->length);
  if (!*into) return PyErr_NoMemory(), false;
  for (int64_t i = 0; i < array->length; ++i) {
    const int64_t bit = array->offset + i;
    (*into)[i] = !(validity[bit / 8] >> (bit % 8) & 1);
  }
  return true;
}

/* judge_arrow(schema capsule, array capsule, adds, drops, times) */
PyObject* judge_arrow(filter_object* self, PyObject* arguments) {
  PyObject *schema_capsule, *array_capsule;
  manner how;
  if (!PyArg_ParseTuple(arguments, "OOppO:judge_arrow", &schema_capsule, &array_capsule, &how.adds, &how.drops, &how.times) ||
      !is_open(self))
    return NULL;
  const struct ArrowSchema* schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
  const struct ArrowArray* array = schema ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
  batch b = {0};
  uint8_t* nulls;
  if (!array || !batch_of_arrow(schema, array, &b) || !nulls_of(array, &nulls)) return NULL;
  b.missing = nulls;
  PyObject* const verdicts = run(self, &b, how);
  free(nulls);
  return verdicts;
}
