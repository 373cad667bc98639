/* Filters: everything but keys. */
#include <string.h>

#include "_everseen.h"

bool is_open(const filter_object* self) {
  if (self->filter) return true;
  PyErr_SetString(PyExc_ValueError, "the filter is closed");
  return false;
}

static PyObject* filter_type;

/* The object that owns a filter. */
static PyObject* object_of(everseen_filter* opened) {
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

/* sibling(url, name) */
static PyObject* create_sibling(filter_object* self, PyObject* arguments) {
  const char *url, *name;
  if (!PyArg_ParseTuple(arguments, "ss:sibling", &url, &name) || !is_open(self)) return NULL;
  everseen_filter* made = NULL;
  everseen_status status;
  ++self->users;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_create_sibling(self->filter, url, name, &made);
  Py_END_ALLOW_THREADS;
  --self->users;
  if (status != EVERSEEN_OK) return raise_status(status, NULL);
  return object_of(made);
}

static PyObject* merge(filter_object* self, PyObject* given) {
  if (Py_TYPE(given) != Py_TYPE((PyObject*)self)) {
    PyErr_SetString(PyExc_TypeError, "merge() takes a filter");
    return NULL;
  }
  filter_object* const sibling = (filter_object*)given;
  if (!is_open(self) || !is_open(sibling)) return NULL;
  everseen_status status;
  ++self->users;
  ++sibling->users;
  Py_BEGIN_ALLOW_THREADS;
  status = everseen_merge(self->filter, sibling->filter);
  Py_END_ALLOW_THREADS;
  --sibling->users;
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

/* Abandons a filter of the parent process: its connections and threads do not belong to this process. */
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

/* Filters are opened: one that its type made would have none. (Py_TPFLAGS_DISALLOW_INSTANTIATION is of CPython 3.10.) */
static PyObject* refuse_new(PyTypeObject* Py_UNUSED(type), PyObject* Py_UNUSED(arguments), PyObject* Py_UNUSED(named)) {
  PyErr_SetString(PyExc_TypeError, "filters are made by everseen.open(), create() and open_or_create()");
  return NULL;
}

static PyMethodDef filter_methods[] = {
    {"judge_list", (PyCFunction)judge_list, METH_VARARGS, NULL},
    {"judge_fixed", (PyCFunction)judge_fixed, METH_VARARGS, NULL},
    {"judge_integers", (PyCFunction)judge_integers, METH_VARARGS, NULL},
    {"judge_arrow", (PyCFunction)judge_arrow, METH_VARARGS, NULL},
    {"judge_stream", (PyCFunction)judge_stream, METH_VARARGS, NULL},
    {"export", (PyCFunction)export_filter, METH_O, NULL},
    {"open_job", (PyCFunction)open_job, METH_VARARGS, NULL},
    {"end_job", (PyCFunction)end_job, METH_VARARGS, NULL},
    {"info", (PyCFunction)info, METH_NOARGS, NULL},
    {"sibling", (PyCFunction)create_sibling, METH_VARARGS, NULL},
    {"merge", (PyCFunction)merge, METH_O, NULL},
    {"sync", (PyCFunction)sync_filter, METH_NOARGS, NULL},
    {"close", (PyCFunction)close_filter, METH_NOARGS, NULL},
    {"abandon", (PyCFunction)abandon, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot filter_slots[] = {
    {Py_tp_dealloc, destroy},
    {Py_tp_new, refuse_new},
    {Py_tp_methods, filter_methods},
    {0, NULL},
};

static PyType_Spec filter_spec = {
    "everseen._everseen.Filter", sizeof(filter_object), 0, Py_TPFLAGS_DEFAULT, filter_slots};

bool make_filter_type(void) {
  filter_type = PyType_FromSpec(&filter_spec);
  return filter_type != NULL;
}

/* None: the option is not given. */
static bool option_of(PyObject* given, parameter wanted, uint64_t* into) {
  return given == Py_None || number_of(given, wanted, into);
}

/* open(how, url, name, capacity, error_rate, window_ms, slices, growth, hash, judge, lifetime_ms)
 * how: "open", "read", "create" or "open_or_create" */
PyObject* open_filter(PyObject* Py_UNUSED(module), PyObject* arguments) {
  const char *how, *url, *name;
  PyObject *capacity, *window, *parts, *lifetime;
  uint64_t slices = 0;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  /* growth, hash and judge are indexes that the package chose */
  if (!PyArg_ParseTuple(arguments, "sssOdOOIIIO:open", &how, &url, &name, &capacity, &options.error_rate, &window,
                        &parts, &options.growth, &options.hash, &options.judge, &lifetime) ||
      !option_of(capacity, (parameter){"capacity", 1, UINT64_C(1) << 48}, &options.capacity) ||
      !option_of(window, (parameter){"window in ms", 1, INT64_MAX}, &options.window_ms) ||
      !option_of(parts, (parameter){"slices", 1, 1000}, &slices) ||
      !option_of(lifetime, (parameter){"lifetime in ms", 1, INT64_MAX}, &options.lifetime_ms))
    return NULL;
  options.slices = (uint32_t)slices;
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
  return object_of(opened);
}
