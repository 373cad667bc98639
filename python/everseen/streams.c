/* Filters as streams of bytes, through functions of Python. */
#include <string.h>

#include "_everseen.h"

/* The library calls these functions on the thread that called it. */
typedef struct {
  PyObject* function;
  PyThreadState* state; /* while the GIL is released */
} callback;

static int write_bytes(void* context, const void* bytes, size_t length) {
  callback* const c = context;
  PyEval_RestoreThread(c->state);
  PyObject* const piece = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length);
  PyObject* const done = piece ? PyObject_CallFunctionObjArgs(c->function, piece, NULL) : NULL;
  Py_XDECREF(piece);
  Py_XDECREF(done);
  c->state = PyEval_SaveThread();
  return done ? 0 : 1;
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

/* export(write): calls write(bytes) */
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
