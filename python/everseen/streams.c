/* Filters as streams of bytes, through functions of Python. */
#include <string.h>

#include "_everseen.h"

/* The library calls these functions on the thread that called it. */
typedef struct {
  PyObject* function;
  PyThreadState* state; /* while the GIL is released */
} callback;

/* How many of the bytes write() has taken: a raw file may take a part, and None means all of them. 0: it has raised,
   or taken none. */
static Py_ssize_t write_some(PyObject* write, const char* bytes, Py_ssize_t length) {
  PyObject* const piece = PyBytes_FromStringAndSize(bytes, length);
  PyObject* const done = piece ? PyObject_CallFunctionObjArgs(write, piece, NULL) : NULL;
  Py_XDECREF(piece);
  if (!done) return 0;
  const Py_ssize_t taken = done == Py_None ? length : PyNumber_AsSsize_t(done, PyExc_ValueError);
  Py_DECREF(done);
  if (PyErr_Occurred()) return 0;
  if (taken == 0) PyErr_SetString(PyExc_BlockingIOError, "write() took no bytes; give a file that waits until it can");
  if (taken >= 0 && taken <= length) return taken;
  PyErr_SetString(PyExc_ValueError, "write() must return how many bytes it took");
  return 0;
}

static int write_bytes(void* context, const void* bytes, size_t length) {
  callback* const c = context;
  const char* next = bytes;
  Py_ssize_t left = (Py_ssize_t)length;
  PyEval_RestoreThread(c->state);
  while (left > 0) {
    const Py_ssize_t taken = write_some(c->function, next, left);
    if (taken == 0) break;
    next += taken;
    left -= taken;
  }
  c->state = PyEval_SaveThread();
  return left > 0;
}

static int64_t copy_piece(PyObject* piece, void* into, size_t length) {
  char* bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(piece, &bytes, &size) != 0) return -1;
  if ((size_t)size > length) {
    PyErr_SetString(PyExc_ValueError, "read() returned more bytes than were asked for");
    return -1;
  }
  memcpy(into, bytes, (size_t)size);
  return size;
}

static int64_t read_bytes(void* context, void* into, size_t length) {
  callback* const c = context;
  PyEval_RestoreThread(c->state);
  PyObject* const piece = PyObject_CallFunction(c->function, "n", (Py_ssize_t)length);
  const int64_t count = piece ? copy_piece(piece, into, length) : -1;
  Py_XDECREF(piece);
  c->state = PyEval_SaveThread();
  return count;
}

/* None, or an exception: that of the function, or of the library. */
static PyObject* result_of(everseen_status status) {
  if (PyErr_Occurred()) return NULL;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  Py_RETURN_NONE;
}

/* export(write): calls write(bytes), which returns how many it took */
PyObject* export_filter(filter_object* self, PyObject* write) {
  if (!is_open(self)) return NULL;
  callback c = {write, NULL};
  ++self->users;
  c.state = PyEval_SaveThread();
  const everseen_status status = everseen_export(self->filter, write_bytes, &c);
  PyEval_RestoreThread(c.state);
  --self->users;
  return result_of(status);
}

/* import_(url, name, read): calls read(length) */
PyObject* import_filter(PyObject* Py_UNUSED(module), PyObject* arguments) {
  const char *url, *name;
  callback c = {0};
  if (!PyArg_ParseTuple(arguments, "ssO:import_", &url, &name, &c.function)) return NULL;
  c.state = PyEval_SaveThread();
  const everseen_status status = everseen_import(url, name, read_bytes, &c);
  PyEval_RestoreThread(c.state);
  return result_of(status);
}
