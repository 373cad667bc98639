/* Jobs, as capsules. */
#include "_everseen.h"

static const char job_name[] = "everseen job";

static void destroy_job(PyObject* capsule) { everseen_close_job(PyCapsule_GetPointer(capsule, job_name)); }

/* open_job(name, description) */
PyObject* open_job(filter_object* self, PyObject* arguments) {
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
PyObject* end_job(filter_object* self, PyObject* arguments) {
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
PyObject* claim(PyObject* Py_UNUSED(module), PyObject* arguments) {
  PyObject *capsule, *given, *times;
  const char* source;
  Py_buffer positions, when = {0};
  if (!PyArg_ParseTuple(arguments, "OsOy*O:claim", &capsule, &source, &given, &positions, &times)) return NULL;
  everseen_job* const job = PyCapsule_GetPointer(capsule, job_name);
  const bool has_times = job && times != Py_None && PyObject_GetBuffer(times, &when, PyBUF_SIMPLE) == 0;
  object_keys keys = {0};
  PyObject *verdicts = NULL, *result = NULL;
  if (job && (has_times || times == Py_None)) keys = keys_of(given, true);
  for (Py_ssize_t i = 0; keys.is_valid && keys.missing && i < keys.count; ++i)
    if (keys.missing[i]) keys.is_valid = raise_missing((size_t)i) != NULL;
  if (keys.is_valid && positions.len / (Py_ssize_t)sizeof(uint64_t) != keys.count)
    PyErr_Format(PyExc_ValueError, "there are %zd positions for %zd keys",
                 positions.len / (Py_ssize_t)sizeof(uint64_t), keys.count);
  else if (keys.is_valid)
    verdicts = PyByteArray_FromStringAndSize(NULL, keys.count);
  if (verdicts) {
    uint8_t* const out = (uint8_t*)PyByteArray_AsString(verdicts);
    everseen_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = everseen_claim(job, source, keys.slices, positions.buf, (size_t)keys.count, when.buf,
                            (size_t)when.len / sizeof(int64_t), out, NULL);
    Py_END_ALLOW_THREADS;
    result = status == EVERSEEN_OK ? verdicts : raise_status(status, verdicts);
    if (result) verdicts = NULL;
  }
  Py_XDECREF(verdicts);
  free_keys(&keys);
  if (has_times) PyBuffer_Release(&when);
  PyBuffer_Release(&positions);
  return result;
}

/* settle(job, source, position) */
PyObject* settle(PyObject* Py_UNUSED(module), PyObject* arguments) {
  PyObject *capsule, *reached;
  const char* source;
  uint64_t position;
  if (!PyArg_ParseTuple(arguments, "OsO:settle", &capsule, &source, &reached) ||
      !number_of(reached, (parameter){"position", 0, UINT64_MAX - 1}, &position))
    return NULL;
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
PyObject* settled(PyObject* Py_UNUSED(module), PyObject* arguments) {
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
PyObject* abandon_job(PyObject* Py_UNUSED(module), PyObject* capsule) {
  if (PyCapsule_SetDestructor(capsule, NULL) != 0) return NULL;
  Py_RETURN_NONE;
}
