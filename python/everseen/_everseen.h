#pragma once

/* Shared by the parts of everseen._everseen: libeverseen.so for CPython 3.9 and later, by the limited API.
 *
 * Batches run without the GIL. Keys are not copied: a tuple holds references to the objects while they are
 * judged, and buffers stay exported. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "everseen.h"

/* CPython 3.9 and 3.10 have these as later versions do, but only later versions promise them to the limited API, so its
 * declarations for 3.9 leave them out: buffers before 3.11, the function before 3.10
 * (https://docs.python.org/3/c-api/stable.html). */
#ifndef PyBUF_SIMPLE
typedef struct {
  void* buf;
  PyObject* obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char* format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void* internal;
} Py_buffer;

enum { PyBUF_SIMPLE = 0 };

int PyObject_GetBuffer(PyObject* exporter, Py_buffer* view, int flags);
void PyBuffer_Release(Py_buffer* view);
#endif

const char* PyUnicode_AsUTF8AndSize(PyObject* text, Py_ssize_t* size);

/* ---- filters ---- */

typedef struct {
  PyObject_HEAD everseen_filter* filter; /* null once it is closed */
  Py_ssize_t users;                      /* calls that run without the GIL */
} filter_object;

bool is_open(const filter_object* self);

/* Raises the exception of a failure. verdicts: of a batch, as the exception's attribute; may be null. */
PyObject* raise_status(everseen_status status, PyObject* verdicts);

typedef struct {
  const char* name;
  uint64_t least, most;
} parameter;

/* The number of an argument.    Returns false with InvalidError or TypeError set. */
bool number_of(PyObject* given, parameter wanted, uint64_t* into);

/* Raises an InvalidError with this message. */
PyObject* raise_invalid(const char* format, ...);

/* Makes the type of filters.    Returns false with an exception set. */
bool make_filter_type(void);

/* ---- batches ---- */

enum layout { as_slices, as_offsets32, as_offsets64, as_fixed, as_int64, as_uint64 };

/* Keys, some of which may be missing: None, NaN, pandas.NA, a null of Arrow. */
typedef struct {
  enum layout layout;
  size_t count; /* also of missing keys */
  const everseen_slice* slices;
  const void* bytes; /* also integers, which are aligned */
  const void* offsets;
  size_t width;
  const uint8_t* missing; /* a byte for each key, not 0 if it is missing; null: no key is */
} batch;

/* How a batch is judged: the last arguments of each method that judges. */
typedef struct {
  int adds;
  int drops;       /* missing keys are left out and have the verdict MISSING; otherwise they are an error */
  PyObject* times; /* None, or a buffer of 64-bit integers */
} manner;

enum { MISSING = EVERSEEN_UNKNOWN + 1 };

/* Judges a batch.    Returns a bytearray of verdicts. */
PyObject* run(filter_object* self, const batch* b, manner how);

/* Keys of a sequence.    is_valid is false, with an exception set, if one is no key. */
typedef struct {
  PyObject* keys; /* a tuple, which keeps them whatever other threads do to a list */
  PyObject* made; /* a list of what was made of integers */
  Py_ssize_t count;
  bool is_valid;
  everseen_slice* slices; /* null if there are integers */
  int64_t* integers;
  uint8_t* missing; /* as in a batch */
} object_keys;

object_keys keys_of(PyObject* given, bool as_slices);
void free_keys(object_keys* all);

/* Raises that a key is missing. */
PyObject* raise_missing(size_t index);

/* ---- methods of filters and of the module; their arguments are documented at their definitions ---- */

PyObject* judge_list(filter_object* self, PyObject* arguments);
PyObject* judge_fixed(filter_object* self, PyObject* arguments);
PyObject* judge_integers(filter_object* self, PyObject* arguments);
PyObject* judge_arrow(filter_object* self, PyObject* arguments);
PyObject* judge_stream(filter_object* self, PyObject* arguments);
PyObject* export_filter(filter_object* self, PyObject* write);
PyObject* open_job(filter_object* self, PyObject* arguments);
PyObject* end_job(filter_object* self, PyObject* arguments);
PyObject* open_filter(PyObject* module, PyObject* arguments);
PyObject* import_filter(PyObject* module, PyObject* arguments);
PyObject* claim(PyObject* module, PyObject* arguments);
PyObject* settle(PyObject* module, PyObject* arguments);
PyObject* settled(PyObject* module, PyObject* arguments);
PyObject* abandon_job(PyObject* module, PyObject* capsule);
