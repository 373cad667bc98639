/* The Python module everseen._everseen: libeverseen.so for CPython 3.11 and later, by the limited API.
 *
 * Batches run without the GIL. Keys are not copied: a tuple holds references to the objects while they are
 * judged, and buffers stay exported. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "everseen.h"

typedef struct {
  PyObject_HEAD everseen_filter* filter; /* null once it is closed */
  Py_ssize_t users;                      /* calls that run without the GIL */
} filter_object;

static PyObject* error_types; /* a tuple: the exception of each everseen_status */

/* Raises the exception of a failure. verdicts: of a batch, as the exception's attribute; may be null. */
static PyObject* raise_status(everseen_status status, PyObject* verdicts) {
  PyObject* type = PyTuple_GetItem(error_types, (Py_ssize_t)status);
  PyObject* message = PyUnicode_DecodeUTF8(everseen_last_error(), (Py_ssize_t)strlen(everseen_last_error()), "replace");
  PyObject* raised = type && message ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;
  if (raised && (!verdicts || PyObject_SetAttrString(raised, "verdicts", verdicts) == 0))
    PyErr_SetObject(type, raised);
  Py_XDECREF(raised);
  Py_XDECREF(message);
  return NULL;
}

static bool is_open(const filter_object* self) {
  if (self->filter) return true;
  PyErr_SetString(PyExc_ValueError, "the filter is closed");
  return false;
}

/* ---- batches ---- */

enum layout { as_slices, as_offsets32, as_offsets64, as_fixed };

typedef struct {
  enum layout layout;
  size_t count;
  const everseen_slice* slices;
  const void* bytes;
  const void* offsets;
  size_t width;
  const int64_t* times;
  size_t times_count;
} batch;

static everseen_status judge(everseen_filter* f, const batch* b, bool adds, uint8_t* verdicts) {
  switch (b->layout) {
    case as_slices:
      return adds ? everseen_add_slices(f, b->slices, b->count, b->times, b->times_count, verdicts)
                  : everseen_check_slices(f, b->slices, b->count, b->times, b->times_count, verdicts);
    case as_offsets32:
      return adds ? everseen_add_offsets32(f, b->bytes, b->offsets, b->count, b->times, b->times_count, verdicts)
                  : everseen_check_offsets32(f, b->bytes, b->offsets, b->count, b->times, b->times_count, verdicts);
    case as_offsets64:
      return adds ? everseen_add_offsets64(f, b->bytes, b->offsets, b->count, b->times, b->times_count, verdicts)
                  : everseen_check_offsets64(f, b->bytes, b->offsets, b->count, b->times, b->times_count, verdicts);
    case as_fixed:
      return adds ? everseen_add_fixed(f, b->bytes, b->width, b->count, b->times, b->times_count, verdicts)
                  : everseen_check_fixed(f, b->bytes, b->width, b->count, b->times, b->times_count, verdicts);
  }
  return EVERSEEN_INTERNAL;
}

/* Judges a batch. times: None, or a buffer of 64-bit integers.    Returns a bytearray of verdicts. */
static PyObject* run(filter_object* self, batch* b, bool adds, PyObject* times) {
  Py_buffer when = {0};
  if (times != Py_None) {
    if (PyObject_GetBuffer(times, &when, PyBUF_SIMPLE) != 0) return NULL;
    b->times = when.buf;
    b->times_count = (size_t)when.len / sizeof(int64_t);
  }
  PyObject* verdicts = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)b->count);
  PyObject* result = NULL;
  if (verdicts) {
    uint8_t* const out = (uint8_t*)PyByteArray_AsString(verdicts);
    everseen_status status;
    ++self->users;
    Py_BEGIN_ALLOW_THREADS;
    status = judge(self->filter, b, adds, out);
    Py_END_ALLOW_THREADS;
    --self->users;
    result = status == EVERSEEN_OK ? Py_NewRef(verdicts) : raise_status(status, verdicts);
  }
  Py_XDECREF(verdicts);
  if (times != Py_None) PyBuffer_Release(&when);
  return result;
}

/* The bytes of a key. What must live as long is appended to `made`.    Returns false with an exception set. */
static bool slice_of(PyObject* key, Py_ssize_t index, PyObject* made, everseen_slice* into) {
  Py_ssize_t length = 0;
  char* bytes = NULL;
  if (PyBytes_Check(key)) {
    if (PyBytes_AsStringAndSize(key, &bytes, &length) != 0) return false;
    into->bytes = bytes;
  } else if (PyUnicode_Check(key)) {
    into->bytes = PyUnicode_AsUTF8AndSize(key, &length);
    if (!into->bytes) return false;
  } else if (PyLong_Check(key) && !PyBool_Check(key)) {
    PyObject* text = PyObject_Str(key);
    const bool is_kept = text && PyList_Append(made, text) == 0;
    Py_XDECREF(text);
    if (!is_kept) return false;
    into->bytes = PyUnicode_AsUTF8AndSize(text, &length);
  } else {
    PyObject* type = PyObject_GetAttrString((PyObject*)Py_TYPE(key), "__name__");
    if (type) {
      PyErr_Format(PyExc_TypeError, "key %zd is of type %U; keys are bytes, str (as UTF-8) or int (as decimal digits)",
                   index, type);
      Py_DECREF(type);
    }
    return false;
  }
  into->length = (size_t)length;
  return true;
}

/* Keys of a sequence as slices.    slices is null, with an exception set, if one is no key. */
typedef struct {
  PyObject* keys; /* a tuple, which keeps them whatever other threads do to a list */
  PyObject* made; /* a list of what was made of integers */
  Py_ssize_t count;
  everseen_slice* slices;
} key_slices;

static key_slices slices_of(PyObject* given) {
  key_slices all = {.keys = PySequence_Tuple(given)};
  all.made = all.keys ? PyList_New(0) : NULL;
  if (!all.made) return all;
  all.count = PyTuple_Size(all.keys);
  all.slices = malloc(((size_t)all.count + 1) * sizeof *all.slices);
  if (!all.slices) PyErr_NoMemory();
  for (Py_ssize_t i = 0; all.slices && i < all.count; ++i)
    if (!slice_of(PyTuple_GetItem(all.keys, i), i, all.made, &all.slices[i])) {
      free(all.slices);
      all.slices = NULL;
    }
  return all;
}

static void free_slices(key_slices* all) {
  free(all->slices);
  Py_XDECREF(all->made);
  Py_XDECREF(all->keys);
}

/* judge_list(keys, adds, times) */
static PyObject* judge_list(filter_object* self, PyObject* arguments) {
  PyObject *given, *times;
  int adds;
  if (!PyArg_ParseTuple(arguments, "OpO:judge_list", &given, &adds, &times) || !is_open(self)) return NULL;
  key_slices keys = slices_of(given);
  batch b = {.layout = as_slices, .count = (size_t)keys.count, .slices = keys.slices};
  PyObject* result = keys.slices ? run(self, &b, adds, times) : NULL;
  free_slices(&keys);
  return result;
}

/* judge_fixed(buffer, width, ends_at_zero, adds, times)
 * ends_at_zero: zero bytes at the end of a key are padding, as in numpy's fixed-width strings */
static PyObject* judge_fixed(filter_object* self, PyObject* arguments) {
  PyObject *given, *times;
  Py_ssize_t width;
  int ends_at_zero, adds;
  if (!PyArg_ParseTuple(arguments, "OnppO:judge_fixed", &given, &width, &ends_at_zero, &adds, &times) || !is_open(self))
    return NULL;
  Py_buffer keys;
  if (PyObject_GetBuffer(given, &keys, PyBUF_SIMPLE) != 0) return NULL;
  PyObject* result = NULL;
  if (width < 1 || keys.len % width != 0) {
    PyErr_Format(PyExc_ValueError, "%zd bytes are no keys of %zd bytes each", keys.len, width);
  } else {
    batch b = {.layout = as_fixed, .count = (size_t)(keys.len / width), .bytes = keys.buf, .width = (size_t)width};
    everseen_slice* slices = NULL;
    if (ends_at_zero) {
      slices = malloc((b.count + 1) * sizeof *slices);
      for (size_t i = 0; slices && i < b.count; ++i) {
        const char* key = (const char*)keys.buf + i * b.width;
        size_t length = b.width;
        while (length > 0 && key[length - 1] == 0) --length;
        slices[i] = (everseen_slice){key, length};
      }
      b.layout = as_slices;
      b.slices = slices;
    }
    result = ends_at_zero && !slices ? PyErr_NoMemory() : run(self, &b, adds, times);
    free(slices);
  }
  PyBuffer_Release(&keys);
  return result;
}

/* ---- Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html ---- */

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
static PyObject* judge_arrow(filter_object* self, PyObject* arguments) {
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

/* ---- jobs: capsules ---- */

static const char job_name[] = "everseen job";

static void destroy_job(PyObject* capsule) { everseen_close_job(PyCapsule_GetPointer(capsule, job_name)); }

/* open_job(name, description) */
static PyObject* open_job(filter_object* self, PyObject* arguments) {
  const char *name, *description;
  if (!PyArg_ParseTuple(arguments, "ss:open_job", &name, &description) || !is_open(self)) return NULL;
  everseen_job* job = NULL;
  everseen_status status;
  ++self->users;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_open_job(self->filter, name, description, &job);
  Py_END_ALLOW_THREADS;
  --self->users;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  PyObject* capsule = PyCapsule_New(job, job_name, destroy_job);
  if (!capsule) everseen_close_job(job);
  return capsule;
}

/* end_job(name) */
static PyObject* end_job(filter_object* self, PyObject* arguments) {
  const char* name;
  if (!PyArg_ParseTuple(arguments, "s:end_job", &name) || !is_open(self)) return NULL;
  everseen_status status;
  ++self->users;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_end_job(self->filter, name);
  Py_END_ALLOW_THREADS;
  --self->users;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  Py_RETURN_NONE;
}

/* claim(job, source, keys, positions, times)    positions: a buffer of 64-bit integers; times: as in run() */
static PyObject* claim(PyObject* Py_UNUSED(module), PyObject* arguments) {
  PyObject *capsule, *given, *times;
  const char* source;
  Py_buffer positions, when = {0};
  if (!PyArg_ParseTuple(arguments, "OsOy*O:claim", &capsule, &source, &given, &positions, &times)) return NULL;
  everseen_job* const job = PyCapsule_GetPointer(capsule, job_name);
  const bool has_times = job && times != Py_None && PyObject_GetBuffer(times, &when, PyBUF_SIMPLE) == 0;
  key_slices keys = {0};
  PyObject *verdicts = NULL, *result = NULL;
  if (job && (has_times || times == Py_None)) keys = slices_of(given);
  if (keys.slices && positions.len / (Py_ssize_t)sizeof(uint64_t) != keys.count)
    PyErr_Format(PyExc_ValueError, "there are %zd positions for %zd keys",
                 positions.len / (Py_ssize_t)sizeof(uint64_t), keys.count);
  else if (keys.slices)
    verdicts = PyByteArray_FromStringAndSize(NULL, keys.count);
  if (verdicts) {
    uint8_t* const out = (uint8_t*)PyByteArray_AsString(verdicts);
    everseen_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = everseen_claim(job, source, keys.slices, positions.buf, (size_t)keys.count, when.buf,
                            (size_t)when.len / sizeof(int64_t), out, NULL);
    Py_END_ALLOW_THREADS;
    result = status == EVERSEEN_OK ? Py_NewRef(verdicts) : raise_status(status, verdicts);
  }
  Py_XDECREF(verdicts);
  free_slices(&keys);
  if (has_times) PyBuffer_Release(&when);
  PyBuffer_Release(&positions);
  return result;
}

/* settle(job, source, position) */
static PyObject* settle(PyObject* Py_UNUSED(module), PyObject* arguments) {
  PyObject* capsule;
  const char* source;
  unsigned long long position;
  if (!PyArg_ParseTuple(arguments, "OsK:settle", &capsule, &source, &position)) return NULL;
  everseen_job* const job = PyCapsule_GetPointer(capsule, job_name);
  if (!job) return NULL;
  everseen_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_settle(job, source, position);
  Py_END_ALLOW_THREADS;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  Py_RETURN_NONE;
}

/* settled(job, source) */
static PyObject* settled(PyObject* Py_UNUSED(module), PyObject* arguments) {
  PyObject* capsule;
  const char* source;
  uint64_t position = 0;
  if (!PyArg_ParseTuple(arguments, "Os:settled", &capsule, &source)) return NULL;
  everseen_job* const job = PyCapsule_GetPointer(capsule, job_name);
  if (!job) return NULL;
  everseen_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_settled(job, source, &position);
  Py_END_ALLOW_THREADS;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  return PyLong_FromUnsignedLongLong(position);
}

/* abandon_job(job): as abandon() of a filter */
static PyObject* abandon_job(PyObject* Py_UNUSED(module), PyObject* capsule) {
  if (PyCapsule_SetDestructor(capsule, NULL) != 0) return NULL;
  Py_RETURN_NONE;
}

/* ---- the filter ---- */

static PyObject* info(filter_object* self, PyObject* Py_UNUSED(none)) {
  if (!is_open(self)) return NULL;
  char* json = NULL;
  everseen_status status;
  ++self->users;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_info(self->filter, &json);
  Py_END_ALLOW_THREADS;
  --self->users;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  PyObject* text = PyUnicode_FromString(json);
  everseen_free(json);
  return text;
}

static PyObject* sync_filter(filter_object* self, PyObject* Py_UNUSED(none)) {
  if (!is_open(self)) return NULL;
  everseen_status status;
  ++self->users;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_sync(self->filter);
  Py_END_ALLOW_THREADS;
  --self->users;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  Py_RETURN_NONE;
}

static PyObject* close_filter(filter_object* self, PyObject* Py_UNUSED(none)) {
  if (self->users > 0) {
    PyErr_SetString(PyExc_RuntimeError, "another thread is using the filter");
    return NULL;
  }
  everseen_filter* const closed = self->filter;
  self->filter = NULL;
  Py_BEGIN_ALLOW_THREADS;
  everseen_close(closed);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

/* Leaves a filter of the parent process alone: its connections and threads are not this process's. */
static PyObject* abandon(filter_object* self, PyObject* Py_UNUSED(none)) {
  self->filter = NULL;
  Py_RETURN_NONE;
}

static void destroy(filter_object* self) {
  PyTypeObject* type = Py_TYPE((PyObject*)self);
  everseen_close(self->filter);
  freefunc free_object = PyType_GetSlot(type, Py_tp_free);
  free_object(self);
  Py_DECREF(type);
}

static PyMethodDef filter_methods[] = {
    {"judge_list", (PyCFunction)judge_list, METH_VARARGS, NULL},
    {"judge_fixed", (PyCFunction)judge_fixed, METH_VARARGS, NULL},
    {"judge_arrow", (PyCFunction)judge_arrow, METH_VARARGS, NULL},
    {"open_job", (PyCFunction)open_job, METH_VARARGS, NULL},
    {"end_job", (PyCFunction)end_job, METH_VARARGS, NULL},
    {"info", (PyCFunction)info, METH_NOARGS, NULL},
    {"sync", (PyCFunction)sync_filter, METH_NOARGS, NULL},
    {"close", (PyCFunction)close_filter, METH_NOARGS, NULL},
    {"abandon", (PyCFunction)abandon, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot filter_slots[] = {
    {Py_tp_dealloc, destroy},
    {Py_tp_methods, filter_methods},
    {0, NULL},
};

static PyType_Spec filter_spec = {
    "everseen._everseen.Filter", sizeof(filter_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, filter_slots};

static PyObject* filter_type;

/* ---- the module ---- */

/* open(how, url, name, capacity, error_rate, window_ms, slices, growth, hash, judge, lifetime_ms)
 * how: "open", "read", "create" or "open_or_create" */
static PyObject* open_filter(PyObject* Py_UNUSED(module), PyObject* arguments) {
  const char *how, *url, *name;
  unsigned long long capacity, window_ms, lifetime_ms;
  double error_rate;
  unsigned slices, growth, hash, judge_by;
  if (!PyArg_ParseTuple(arguments, "sssKdKIIIIK:open", &how, &url, &name, &capacity, &error_rate, &window_ms, &slices,
                        &growth, &hash, &judge_by, &lifetime_ms))
    return NULL;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  options.capacity = capacity;
  options.error_rate = error_rate;
  options.window_ms = window_ms;
  options.slices = slices;
  options.growth = growth;
  options.hash = hash;
  options.judge = judge_by;
  options.lifetime_ms = lifetime_ms;
  everseen_filter* opened = NULL;
  everseen_status status;
  Py_BEGIN_ALLOW_THREADS;
  if (strcmp(how, "open") == 0)
    status = everseen_open(url, name, &opened);
  else if (strcmp(how, "read") == 0)
    status = everseen_open_to_read(url, name, &opened);
  else if (strcmp(how, "create") == 0)
    status = everseen_create(url, name, &options, &opened);
  else
    status = everseen_open_or_create(url, name, &options, &opened);
  Py_END_ALLOW_THREADS;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  allocfunc allocate = PyType_GetSlot((PyTypeObject*)filter_type, Py_tp_alloc);
  filter_object* made = (filter_object*)allocate((PyTypeObject*)filter_type, 0);
  if (!made) {
    everseen_close(opened);
    return NULL;
  }
  made->filter = opened;
  made->users = 0;
  return (PyObject*)made;
}

/* drop(url, name) */
static PyObject* drop_filter(PyObject* Py_UNUSED(module), PyObject* arguments) {
  const char *url, *name;
  if (!PyArg_ParseTuple(arguments, "ss:drop", &url, &name)) return NULL;
  everseen_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_drop(url, name);
  Py_END_ALLOW_THREADS;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  Py_RETURN_NONE;
}

/* set_errors(types): the exception of each everseen_status, in order */
static PyObject* set_errors(PyObject* Py_UNUSED(module), PyObject* types) {
  if (!PyTuple_Check(types) || PyTuple_Size(types) != EVERSEEN_INTERNAL + 1) {
    PyErr_SetString(PyExc_TypeError, "set_errors() takes a tuple with an exception for each status");
    return NULL;
  }
  Py_XDECREF(error_types);
  error_types = Py_NewRef(types);
  Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"open", open_filter, METH_VARARGS, NULL},
    {"drop", drop_filter, METH_VARARGS, NULL},
    {"claim", claim, METH_VARARGS, NULL},
    {"settle", settle, METH_VARARGS, NULL},
    {"settled", settled, METH_VARARGS, NULL},
    {"abandon_job", abandon_job, METH_O, NULL},
    {"set_errors", set_errors, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "everseen._everseen", NULL, -1, module_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__everseen(void) {
  PyObject* module = PyModule_Create(&module_definition);
  if (!module) return NULL;
  filter_type = PyType_FromSpec(&filter_spec);
  if (!filter_type || PyModule_AddStringConstant(module, "version", everseen_version()) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
