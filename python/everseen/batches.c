/* Batches of keys on their way through the library. */
#include <stdlib.h>
#include <string.h>

#include "_everseen.h"

typedef struct {
  const int64_t* ms;
  size_t count;
} times;

static everseen_status judge(everseen_filter* f, const batch* b, times t, bool adds, uint8_t* out) {
  switch (b->layout) {
    case as_slices:
      return adds ? everseen_add_slices(f, b->slices, b->count, t.ms, t.count, out)
                  : everseen_check_slices(f, b->slices, b->count, t.ms, t.count, out);
    case as_offsets32:
      return adds ? everseen_add_offsets32(f, b->bytes, b->offsets, b->count, t.ms, t.count, out)
                  : everseen_check_offsets32(f, b->bytes, b->offsets, b->count, t.ms, t.count, out);
    case as_offsets64:
      return adds ? everseen_add_offsets64(f, b->bytes, b->offsets, b->count, t.ms, t.count, out)
                  : everseen_check_offsets64(f, b->bytes, b->offsets, b->count, t.ms, t.count, out);
    case as_fixed:
      return adds ? everseen_add_fixed(f, b->bytes, b->width, b->count, t.ms, t.count, out)
                  : everseen_check_fixed(f, b->bytes, b->width, b->count, t.ms, t.count, out);
    case as_int64:
      return adds ? everseen_add_int64(f, b->bytes, b->count, t.ms, t.count, out)
                  : everseen_check_int64(f, b->bytes, b->count, t.ms, t.count, out);
    case as_uint64:
      return adds ? everseen_add_uint64(f, b->bytes, b->count, t.ms, t.count, out)
                  : everseen_check_uint64(f, b->bytes, b->count, t.ms, t.count, out);
  }
  return EVERSEEN_INTERNAL;
}

static PyObject* judged(filter_object* self, const batch* b, times t, bool adds) {
  PyObject* verdicts = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)b->count);
  if (!verdicts) return NULL;
  uint8_t* const out = (uint8_t*)PyByteArray_AsString(verdicts);
  everseen_status status;
  ++self->users;
  Py_BEGIN_ALLOW_THREADS;
  status = judge(self->filter, b, t, adds, out);
  Py_END_ALLOW_THREADS;
  --self->users;
  if (status == EVERSEEN_OK) return verdicts;
  raise_status(status, verdicts);
  Py_DECREF(verdicts);
  return NULL;
}

/* ---- missing keys ---- */

PyObject* raise_missing(size_t index) {
  return raise_invalid("key %zu is missing (None, NaN or null); leave such keys out, as add_many(), check_many(), fresh() and "
                       "dedup() do with missing=\"drop\"",
                       index);
}

static everseen_slice slice_between(const batch* b, int64_t begin, int64_t end) {
  if (begin < 0 || end < begin) return (everseen_slice){NULL, SIZE_MAX}; /* the offsets are invalid */
  const char* const bytes = begin < end ? b->bytes : NULL;
  return (everseen_slice){bytes ? bytes + begin : NULL, (size_t)(end - begin)};
}

static everseen_slice slice_at(const batch* b, size_t i) {
  const int32_t* const offsets32 = b->offsets;
  const int64_t* const offsets64 = b->offsets;
  switch (b->layout) {
    case as_slices:
      return b->slices[i];
    case as_offsets32:
      return slice_between(b, offsets32[i], offsets32[i + 1]);
    case as_offsets64:
      return slice_between(b, offsets64[i], offsets64[i + 1]);
    default:
      return (everseen_slice){(const char*)b->bytes + i * b->width, b->width};
  }
}

/* The keys of a batch that are not missing, with their times: both in arrays of its own. */
typedef struct {
  batch keys;
  times at;
  void* own_keys;
  int64_t* own_times;
} present_keys;

static bool find_present(const batch* all, times t, present_keys* into) {
  const bool are_integers = all->layout == as_int64 || all->layout == as_uint64;
  const bool have_times = t.count > 1;
  if (have_times && t.count != all->count) {
    raise_invalid("there are %zu times for %zu keys; give none, one for all, or one per key", t.count, all->count);
    return false;
  }
  into->own_keys = malloc((all->count + 1) * (are_integers ? sizeof(int64_t) : sizeof(everseen_slice)));
  into->own_times = have_times ? malloc(all->count * sizeof(int64_t)) : NULL;
  if (!into->own_keys || (have_times && !into->own_times)) {
    PyErr_NoMemory();
    return false;
  }
  size_t count = 0;
  for (size_t i = 0; i < all->count; ++i) {
    const everseen_slice key = are_integers ? (everseen_slice){NULL, 0} : slice_at(all, i);
    if (key.length == SIZE_MAX) { /* also of a missing key: otherwise later ones may reach too far */
      raise_invalid("the offsets of key %zu do not ascend", i);
      return false;
    }
    if (all->missing[i]) continue;
    if (are_integers)
      ((int64_t*)into->own_keys)[count] = ((const int64_t*)all->bytes)[i];
    else
      ((everseen_slice*)into->own_keys)[count] = key;
    if (have_times) into->own_times[count] = t.ms[i];
    ++count;
  }
  into->keys = (batch){.layout = are_integers ? all->layout : as_slices, .count = count,
                       .slices = are_integers ? NULL : into->own_keys, .bytes = are_integers ? into->own_keys : NULL};
  into->at = !have_times ? t : (times){into->own_times, count};
  if (have_times && count == 0) into->at.count = 0;
  return true;
}

/* Moves the verdicts of the keys that are not missing to their places. */
static bool spread(PyObject* verdicts, const batch* all) {
  size_t from = (size_t)PyByteArray_Size(verdicts);
  if (PyByteArray_Resize(verdicts, (Py_ssize_t)all->count) != 0) return false;
  uint8_t* const out = (uint8_t*)PyByteArray_AsString(verdicts);
  for (size_t i = all->count; i-- > 0;) out[i] = all->missing[i] ? MISSING : out[--from];
  return true;
}

/* Gives the exception that is set the verdicts of all keys. */
static void spread_in_exception(const batch* all) {
  PyObject *type, *raised, *trace;
  PyErr_Fetch(&type, &raised, &trace);
  PyErr_NormalizeException(&type, &raised, &trace);
  PyObject* verdicts = raised ? PyObject_GetAttrString(raised, "verdicts") : NULL;
  if (verdicts && PyByteArray_Check(verdicts)) spread(verdicts, all);
  PyErr_Clear();
  Py_XDECREF(verdicts);
  PyErr_Restore(type, raised, trace);
}

static PyObject* judged_without_missing(filter_object* self, const batch* all, times t, bool adds) {
  present_keys present = {0};
  PyObject* verdicts = NULL;
  if (find_present(all, t, &present)) {
    verdicts = judged(self, &present.keys, present.at, adds);
    if (!verdicts)
      spread_in_exception(all);
    else if (!spread(verdicts, all))
      Py_CLEAR(verdicts);
  }
  free(present.own_times);
  free(present.own_keys);
  return verdicts;
}

/* The first key that is missing; count: none is. */
static size_t first_missing(const batch* b) {
  size_t i = b->missing ? 0 : b->count;
  while (i < b->count && !b->missing[i]) ++i;
  return i;
}

PyObject* run(filter_object* self, const batch* b, manner how) {
  const size_t first = first_missing(b);
  if (first < b->count && !how.drops) return raise_missing(first);
  Py_buffer when = {0};
  if (how.times != Py_None && PyObject_GetBuffer(how.times, &when, PyBUF_SIMPLE) != 0) return NULL;
  const times t = {when.buf, (size_t)when.len / sizeof(int64_t)};
  PyObject* const verdicts =
      first < b->count ? judged_without_missing(self, b, t, how.adds) : judged(self, b, t, how.adds);
  if (how.times != Py_None) PyBuffer_Release(&when);
  return verdicts;
}

/* ---- buffers of keys of one width ---- */

/* Bytes of a buffer and of its mask, which is None or has a byte for each key. */
typedef struct {
  Py_buffer keys, mask;
} masked;

static void release(masked* m) {
  if (m->mask.obj) PyBuffer_Release(&m->mask);
  if (m->keys.obj) PyBuffer_Release(&m->keys);
}

static bool get_masked(PyObject* keys, PyObject* mask, Py_ssize_t width, masked* into, batch* b) {
  if (PyObject_GetBuffer(keys, &into->keys, PyBUF_SIMPLE) != 0 ||
      (mask != Py_None && PyObject_GetBuffer(mask, &into->mask, PyBUF_SIMPLE) != 0))
    return false;
  if (width < 1 || into->keys.len % width != 0) {
    PyErr_Format(PyExc_ValueError, "%zd bytes are no keys of %zd bytes each", into->keys.len, width);
    return false;
  }
  *b = (batch){.layout = as_fixed, .count = (size_t)(into->keys.len / width), .bytes = into->keys.buf,
               .width = (size_t)width};
  if (mask == Py_None) return true;
  if ((size_t)into->mask.len != b->count) {
    PyErr_Format(PyExc_ValueError, "a mask of %zd bytes for %zu keys", into->mask.len, b->count);
    return false;
  }
  b->missing = into->mask.buf;
  return true;
}

/* Keys that end before the zero bytes at the end of their width.    Returns null if there is no memory. */
static everseen_slice* without_padding(const batch* b) {
  everseen_slice* const slices = malloc((b->count + 1) * sizeof *slices);
  for (size_t i = 0; slices && i < b->count; ++i) {
    const char* key = (const char*)b->bytes + i * b->width;
    size_t length = b->width;
    while (length > 0 && key[length - 1] == 0) --length;
    slices[i] = (everseen_slice){key, length};
  }
  return slices;
}

/* judge_fixed(buffer, mask, width, ends_at_zero, adds, drops, times)
 * ends_at_zero: zero bytes at the end of a key are padding, as in numpy's fixed-width strings */
PyObject* judge_fixed(filter_object* self, PyObject* arguments) {
  PyObject *given, *mask;
  Py_ssize_t width;
  int ends_at_zero;
  manner how;
  if (!PyArg_ParseTuple(arguments, "OOnpppO:judge_fixed", &given, &mask, &width, &ends_at_zero, &how.adds, &how.drops,
                        &how.times) ||
      !is_open(self))
    return NULL;
  masked m = {0};
  batch b;
  PyObject* verdicts = NULL;
  if (get_masked(given, mask, width, &m, &b)) {
    everseen_slice* const slices = ends_at_zero ? without_padding(&b) : NULL;
    if (slices) b.layout = as_slices, b.slices = slices;
    verdicts = ends_at_zero && !slices ? PyErr_NoMemory() : run(self, &b, how);
    free(slices);
  }
  release(&m);
  return verdicts;
}

/* judge_integers(buffer, mask, is_signed, adds, drops, times)
 * buffer: aligned, of 64-bit integers */
PyObject* judge_integers(filter_object* self, PyObject* arguments) {
  PyObject *given, *mask;
  int is_signed;
  manner how;
  if (!PyArg_ParseTuple(arguments, "OOpppO:judge_integers", &given, &mask, &is_signed, &how.adds, &how.drops, &how.times) ||
      !is_open(self))
    return NULL;
  masked m = {0};
  batch b;
  PyObject* verdicts = NULL;
  if (get_masked(given, mask, sizeof(int64_t), &m, &b)) {
    b.layout = is_signed ? as_int64 : as_uint64;
    verdicts = run(self, &b, how);
  }
  release(&m);
  return verdicts;
}
