/* Arrays and streams of the Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html
 *
 * One array of strings or 64-bit integers is judged where it lies. Of all others, slices are made, which point to the
 * bytes where they lie, or 64-bit integers. */
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

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema*);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray*);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
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

enum kind { is_text, is_long_text, is_wide, is_view, is_number, is_dictionary, is_null, is_other };

/* What a schema says about the keys. */
typedef struct {
  enum kind kind;
  Py_ssize_t unit; /* bytes of an element of the second buffer */
  bool is_signed;
} key_format;

static key_format integer_format(const char* format) {
  static const char signed_formats[] = "csil", unsigned_formats[] = "CSIL";
  const char* const found = format[0] && !format[1] ? strchr(signed_formats, format[0]) : NULL;
  if (found) return (key_format){is_number, 1 << (found - signed_formats), true};
  const char* const other = format[0] && !format[1] ? strchr(unsigned_formats, format[0]) : NULL;
  if (other) return (key_format){is_number, 1 << (other - unsigned_formats), false};
  return (key_format){is_other, 0, false};
}

static key_format format_of(const struct ArrowSchema* schema) {
  const char* const format = schema->format ? schema->format : "";
  if (schema->dictionary) {
    const key_format index = integer_format(format);
    return (key_format){index.kind == is_number ? is_dictionary : is_other, index.unit, index.is_signed};
  }
  if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0) return (key_format){is_text, 4, false};
  if (strcmp(format, "U") == 0 || strcmp(format, "Z") == 0) return (key_format){is_long_text, 8, false};
  if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) return (key_format){is_view, 16, false};
  if (strcmp(format, "n") == 0) return (key_format){is_null, 0, false};
  if (width_of(format) >= 0) return (key_format){is_wide, width_of(format), false};
  return integer_format(format);
}

static bool must_be_known(const struct ArrowSchema* schema) {
  if (!schema->release) return refuse("that was released");
  const key_format outer = format_of(schema);
  const bool is_known = outer.kind == is_dictionary
                            ? format_of(schema->dictionary).kind < is_number
                            : outer.kind != is_other;
  if (!is_known)
    PyErr_Format(PyExc_TypeError, "keys of the Arrow format '%s'%s; cast them to string or binary, or to integers",
                 schema->format ? schema->format : "", schema->dictionary ? " in a dictionary" : "");
  return is_known;
}

static bool must_be_possible(const struct ArrowArray* array, key_format form) {
  if (!array->release) return refuse("that was released");
  if (form.kind == is_null) return array->length >= 0 || refuse("of a negative length");
  return is_possible(array, form.kind == is_text || form.kind == is_long_text || form.kind == is_view ? 3 : 2, form.unit);
}

static bool is_null_at(const struct ArrowArray* array, int64_t i) {
  const uint8_t* const validity = array->null_count != 0 ? array->buffers[0] : NULL;
  const int64_t bit = array->offset + i;
  return validity && !(validity[bit / 8] >> (bit % 8) & 1);
}

/* ---- arrays that are judged where they lie ---- */

/* Describes an array as a batch.    Returns whether it can be one. */
static bool is_batch(const struct ArrowArray* array, key_format form, batch* into) {
  if (array->length == 0) return true; /* its buffers may be null */
  const char* const first = array->buffers && array->buffers[1] ? (const char*)array->buffers[1] + array->offset * form.unit : NULL;
  into->count = (size_t)array->length;
  into->bytes = first;
  switch (form.kind) {
    case is_text:
    case is_long_text:
      into->layout = form.kind == is_text ? as_offsets32 : as_offsets64;
      into->offsets = first;
      into->bytes = array->buffers[2];
      return true;
    case is_wide:
      into->layout = as_fixed;
      into->width = (size_t)form.unit;
      return true;
    case is_number:
      into->layout = form.is_signed ? as_int64 : as_uint64;
      return form.unit == 8 && (uintptr_t)first % 8 == 0;
    default:
      return false;
  }
}

/* A byte for each key, 1 if it is null; null if none is.    Returns false if there is no memory. */
static bool nulls_of(const struct ArrowArray* array, uint8_t** into) {
  *into = NULL;
  if (array->length == 0 || array->null_count == 0 || !array->buffers[0]) return true;
  *into = malloc((size_t)array->length);
  if (!*into) return PyErr_NoMemory(), false;
  for (int64_t i = 0; i < array->length; ++i) (*into)[i] = is_null_at(array, i);
  return true;
}

/* ---- arrays that are gathered ---- */

typedef struct {
  size_t count, room;
  everseen_slice* slices;
  int64_t* integers;
  uint8_t* missing;
} gathered;

static int64_t integer_at(const struct ArrowArray* array, key_format form, int64_t i) {
  const char* const at = (const char*)array->buffers[1] + (array->offset + i) * form.unit;
  union { int8_t i1; int16_t i2; int32_t i4; int64_t i8; uint8_t u1; uint16_t u2; uint32_t u4; } n;
  memcpy(&n, at, (size_t)form.unit);
  switch (form.unit) {
    case 1:
      return form.is_signed ? n.i1 : n.u1;
    case 2:
      return form.is_signed ? n.i2 : n.u2;
    case 4:
      return form.is_signed ? n.i4 : (int64_t)n.u4;
    default:
      return n.i8;
  }
}

/* A string of at most 12 bytes lies in its view, a longer one in one of the buffers whose lengths the last one has. */
static bool view_at(const struct ArrowArray* array, int64_t i, everseen_slice* into) {
  const char* const view = (const char*)array->buffers[1] + (array->offset + i) * 16;
  int32_t length, number, offset;
  memcpy(&length, view, 4);
  memcpy(&number, view + 8, 4);
  memcpy(&offset, view + 12, 4);
  if (length < 0) return refuse("with a view of a negative length");
  *into = (everseen_slice){view + 4, (size_t)length};
  if (length <= 12) return true;
  const int64_t* const lengths = array->buffers[array->n_buffers - 1];
  if (!lengths || number < 0 || number >= array->n_buffers - 3 || offset < 0 || !array->buffers[2 + number] ||
      length > lengths[number] - offset)
    return refuse("with a view that reaches beyond its buffers");
  into->bytes = (const char*)array->buffers[2 + number] + offset;
  return true;
}

static bool text_at(const struct ArrowArray* array, key_format form, int64_t i, everseen_slice* into) {
  const char* const offsets = (const char*)array->buffers[1] + (array->offset + i) * form.unit;
  int64_t begin = 0, end = 0, last = 0;
  const char* const final = (const char*)array->buffers[1] + (array->offset + array->length) * form.unit;
  if (form.kind == is_text) {
    int32_t short_begin, short_end, short_last;
    memcpy(&short_begin, offsets, 4), memcpy(&short_end, offsets + 4, 4), memcpy(&short_last, final, 4);
    begin = short_begin, end = short_end, last = short_last;
  } else {
    memcpy(&begin, offsets, 8), memcpy(&end, offsets + 8, 8), memcpy(&last, final, 8);
  }
  if (begin < 0 || end < begin || end > last) return refuse("whose offsets do not ascend");
  const char* const bytes = array->buffers[2];
  if (begin < end && !bytes) return refuse("without its buffers");
  *into = (everseen_slice){begin < end ? bytes + begin : NULL, (size_t)(end - begin)};
  return true;
}

static bool element_at(const struct ArrowArray* array, key_format form, int64_t i, everseen_slice* into) {
  if (form.kind == is_view) return view_at(array, i, into);
  if (form.kind != is_wide) return text_at(array, form, i, into);
  *into = (everseen_slice){(const char*)array->buffers[1] + (array->offset + i) * form.unit, (size_t)form.unit};
  return true;
}

/* The value of a dictionary that a key stands for, which may be null, too. */
static bool value_at(const struct ArrowSchema* schema, const struct ArrowArray* array, int64_t i, everseen_slice* into,
                     uint8_t* missing) {
  const struct ArrowArray* const values = array->dictionary;
  const int64_t index = integer_at(array, format_of(schema), i);
  if (index < 0 || index >= values->length) return refuse("with an index beyond its dictionary");
  *missing = is_null_at(values, index);
  return *missing || element_at(values, format_of(schema->dictionary), index, into);
}

static bool gather(const struct ArrowSchema* schema, const struct ArrowArray* array, gathered* into) {
  const key_format form = format_of(schema);
  if (!must_be_possible(array, form)) return false;
  if (form.kind == is_dictionary &&
      (!array->dictionary || !must_be_possible(array->dictionary, format_of(schema->dictionary))))
    return array->dictionary ? false : refuse("without its dictionary");
  for (int64_t i = 0; i < array->length; ++i) {
    const size_t to = into->count++;
    into->missing[to] = form.kind == is_null || is_null_at(array, i);
    if (into->slices) into->slices[to] = (everseen_slice){NULL, 0};
    if (into->missing[to]) continue;
    if (form.kind == is_number)
      into->integers[to] = integer_at(array, form, i);
    else if (!(form.kind == is_dictionary ? value_at(schema, array, i, &into->slices[to], &into->missing[to])
                                          : element_at(array, form, i, &into->slices[to])))
      return false;
  }
  return true;
}

static PyObject* judge_gathered(filter_object* self, const struct ArrowSchema* schema, struct ArrowArray* const* arrays,
                                size_t count, manner how) {
  const key_format form = format_of(schema);
  gathered all = {0};
  for (size_t i = 0; i < count; ++i) {
    const int64_t length = arrays[i]->length;
    if (length < 0 || length > PY_SSIZE_T_MAX / 32 - (int64_t)all.room) return refuse("that exceeds the memory"), NULL;
    all.room += (size_t)length;
  }
  all.missing = malloc(all.room + 1);
  if (form.kind == is_number)
    all.integers = malloc((all.room + 1) * sizeof(int64_t));
  else
    all.slices = malloc((all.room + 1) * sizeof(everseen_slice));
  bool is_valid = all.missing && (all.integers || all.slices);
  if (!is_valid) PyErr_NoMemory();
  for (size_t i = 0; is_valid && i < count; ++i) is_valid = gather(schema, arrays[i], &all);
  const batch b = {.layout = !all.integers ? as_slices : form.is_signed ? as_int64 : as_uint64, .count = all.count,
                   .slices = all.slices, .bytes = all.integers, .missing = all.missing};
  PyObject* const verdicts = is_valid ? run(self, &b, how) : NULL;
  free(all.missing);
  free(all.integers);
  free(all.slices);
  return verdicts;
}

static PyObject* judge_arrays(filter_object* self, const struct ArrowSchema* schema, struct ArrowArray* const* arrays,
                              size_t count, manner how) {
  if (!must_be_known(schema)) return NULL;
  const key_format form = format_of(schema);
  batch b = {0};
  if (count != 1 || form.kind == is_dictionary || form.kind == is_null)
    return judge_gathered(self, schema, arrays, count, how);
  if (!must_be_possible(arrays[0], form)) return NULL;
  if (!is_batch(arrays[0], form, &b)) return judge_gathered(self, schema, arrays, count, how);
  uint8_t* nulls;
  if (!nulls_of(arrays[0], &nulls)) return NULL;
  b.missing = nulls;
  PyObject* const verdicts = run(self, &b, how);
  free(nulls);
  return verdicts;
}

/* judge_arrow(schema capsule, array capsule, adds, drops, times) */
PyObject* judge_arrow(filter_object* self, PyObject* arguments) {
  PyObject *schema_capsule, *array_capsule;
  manner how;
  if (!PyArg_ParseTuple(arguments, "OOppO:judge_arrow", &schema_capsule, &array_capsule, &how.adds, &how.drops, &how.times) ||
      !is_open(self))
    return NULL;
  const struct ArrowSchema* schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
  struct ArrowArray* array = schema ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
  return array ? judge_arrays(self, schema, &array, 1, how) : NULL;
}

/* ---- streams ---- */

typedef struct {
  struct ArrowArray** arrays;
  size_t count, room;
} chunks;

static bool fail(struct ArrowArrayStream* stream) {
  const char* const why = stream->get_last_error ? stream->get_last_error(stream) : NULL;
  PyErr_Format(PyExc_ValueError, "an Arrow stream failed: %s", why ? why : "it does not say why");
  return false;
}

/* Reads all arrays of a stream. Each stays where it was made, as the interface lets it be moved only by bytes. */
static bool read_chunks(struct ArrowArrayStream* stream, chunks* into) {
  for (;;) {
    if (into->count == into->room) {
      struct ArrowArray** const more = realloc(into->arrays, (2 * into->room + 8) * sizeof *more);
      if (!more) return PyErr_NoMemory(), false;
      into->arrays = more;
      into->room = 2 * into->room + 8;
    }
    struct ArrowArray* const next = calloc(1, sizeof *next);
    if (!next) return PyErr_NoMemory(), false;
    if (stream->get_next(stream, next) != 0) return free(next), fail(stream);
    if (!next->release) return free(next), true; /* the end */
    into->arrays[into->count++] = next;
  }
}

/* judge_stream(stream capsule, adds, drops, times) */
PyObject* judge_stream(filter_object* self, PyObject* arguments) {
  PyObject* capsule;
  manner how;
  if (!PyArg_ParseTuple(arguments, "OppO:judge_stream", &capsule, &how.adds, &how.drops, &how.times) || !is_open(self))
    return NULL;
  struct ArrowArrayStream* const stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  if (!stream) return NULL;
  if (!stream->release) return PyErr_SetString(PyExc_ValueError, "an Arrow stream that was released"), NULL;
  struct ArrowSchema schema = {0};
  chunks all = {0};
  PyObject* verdicts = NULL;
  if (stream->get_schema(stream, &schema) != 0)
    fail(stream);
  else if (must_be_known(&schema) && read_chunks(stream, &all))
    verdicts = judge_arrays(self, &schema, all.arrays, all.count, how);
  for (size_t i = 0; i < all.count; ++i) {
    if (all.arrays[i]->release) all.arrays[i]->release(all.arrays[i]);
    free(all.arrays[i]);
  }
  free(all.arrays);
  if (schema.release) schema.release(&schema);
  return verdicts;
}
