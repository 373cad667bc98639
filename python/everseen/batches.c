/* Batches of keys: lists of objects, and buffers of keys of one width. */
#include <stdlib.h>
#include <string.h>

#include "_everseen.h"

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

PyObject* run(filter_object* self, batch* b, bool adds, PyObject* times) {
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

/* The bytes of a key. Objects that must live as long are appended to `made`.    Returns false with an
 * exception set. */
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
    PyObject* text = PyNumber_ToBase(key, 10); /* str() of an enum's member is its name */
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

key_slices slices_of(PyObject* given) {
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

void free_slices(key_slices* all) {
  free(all->slices);
  Py_XDECREF(all->made);
  Py_XDECREF(all->keys);
}

/* judge_list(keys, adds, times) */
PyObject* judge_list(filter_object* self, PyObject* arguments) {
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
PyObject* judge_fixed(filter_object* self, PyObject* arguments) {
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
