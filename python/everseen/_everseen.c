/* The Python module everseen._everseen. */
#include <stdarg.h>
#include <string.h>

#include "_everseen.h"

static PyObject* error_types; /* a tuple: the exception of each everseen_status */

PyObject* raise_status(everseen_status status, PyObject* verdicts) {
  PyObject* type = PyTuple_GetItem(error_types, (Py_ssize_t)status);
  PyObject* message = PyUnicode_DecodeUTF8(everseen_last_error(), (Py_ssize_t)strlen(everseen_last_error()), "replace");
  PyObject* raised = type && message ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;
  if (raised && (!verdicts || PyObject_SetAttrString(raised, "verdicts", verdicts) == 0))
    PyErr_SetObject(type, raised);
  Py_XDECREF(raised);
  Py_XDECREF(message);
  return NULL;
}

PyObject* raise_invalid(const char* format, ...) {
  PyObject* const type = PyTuple_GetItem(error_types, EVERSEEN_INVALID);
  va_list arguments;
  va_start(arguments, format);
  if (type) PyErr_FormatV(type, format, arguments);
  va_end(arguments);
  return NULL;
}

bool number_of(PyObject* given, parameter wanted, uint64_t* into) {
  PyObject* number = PyNumber_Index(given);
  if (!number) return false;
  *into = PyLong_AsUnsignedLongLong(number);
  const bool is_beyond = PyErr_Occurred() != NULL; /* OverflowError */
  PyErr_Clear();
  const bool fits = !is_beyond && *into >= wanted.least && *into <= wanted.most;
  if (!fits)
    raise_invalid("%s=%S; it must be %llu to %llu", wanted.name, number, (unsigned long long)wanted.least,
                  (unsigned long long)wanted.most);
  Py_DECREF(number);
  return fits;
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
  Py_INCREF(types);
  Py_XDECREF(error_types);
  error_types = types;
  Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"open", open_filter, METH_VARARGS, NULL},
    {"import_", import_filter, METH_VARARGS, NULL},
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
  if (!make_filter_type() || PyModule_AddStringConstant(module, "version", everseen_version()) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
