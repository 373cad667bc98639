/* Keys that are Python objects. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "_everseen.h"

/* Whether an object is one of pandas' constants of this name. Programs that have them have loaded pandas. */
static bool is_of_pandas(PyObject* object, const char* name) {
  PyObject* const module_name = PyUnicode_FromString("pandas");
  PyObject* const module = module_name ? PyImport_GetModule(module_name) : NULL;
  PyObject* const constant = module ? PyObject_GetAttrString(module, name) : NULL;
  PyErr_Clear();
  Py_XDECREF(constant);
  Py_XDECREF(module);
  Py_XDECREF(module_name);
  return constant && constant == object;
}

/* Whether an object stands for a key that is missing. */
static bool is_missing(PyObject* object) {
  if (object == Py_None) return true;
  if (PyFloat_Check(object)) return isnan(PyFloat_AsDouble(object));
  if (is_of_pandas(object, "NA") || is_of_pandas(object, "NaT")) return true;
  if (!PyType_GetSlot(Py_TYPE(object), Py_nb_float)) return false;
  const double number = PyFloat_AsDouble(object); /* a NaN of numpy or decimal */
  const bool is_number = !PyErr_Occurred();
  PyErr_Clear();
  return is_number && isnan(number);
}

static bool is_integer(PyObject* object) { return PyLong_Check(object) && !PyBool_Check(object); }

/* numpy's is called bool_ or bool, and was an index until numpy 2. */
static bool is_boolean(PyObject* object) {
  PyObject* const name = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__name__");
  const char* const text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  const bool is = text && (strcmp(text, "bool") == 0 || strcmp(text, "bool_") == 0);
  PyErr_Clear();
  Py_XDECREF(name);
  return is;
}

static bool refuse_type(PyObject* key, Py_ssize_t index) {
  PyObject* type = PyObject_GetAttrString((PyObject*)Py_TYPE(key), "__name__");
  if (type)
    PyErr_Format(PyExc_TypeError, "key %zd is of type %U; keys are bytes, str (as UTF-8) or int (as decimal digits)", index,
                 type);
  Py_XDECREF(type);
  return false;
}

/* The decimal digits of an integer, which must live as long as `made`. */
static bool slice_of_integer(PyObject* integer, PyObject* made, everseen_slice* into) {
  PyObject* text = PyNumber_ToBase(integer, 10); /* str() of an enum's member is its name */
  const bool is_kept = text && PyList_Append(made, text) == 0;
  Py_XDECREF(text);
  if (!is_kept) return false;
  Py_ssize_t length = 0;
  into->bytes = PyUnicode_AsUTF8AndSize(text, &length);
  into->length = (size_t)length;
  return into->bytes != NULL;
}

/* The bytes of a key that is not missing.    Returns false with an exception set. */
static bool slice_of(PyObject* key, Py_ssize_t index, PyObject* made, everseen_slice* into) {
  Py_ssize_t length = 0;
  char* bytes = NULL;
  if (PyBytes_Check(key)) {
    if (PyBytes_AsStringAndSize(key, &bytes, &length) != 0) return false;
    *into = (everseen_slice){bytes, (size_t)length};
    return true;
  }
  if (PyUnicode_Check(key)) {
    into->bytes = PyUnicode_AsUTF8AndSize(key, &length);
    into->length = (size_t)length;
    return into->bytes != NULL;
  }
  if (is_integer(key)) return slice_of_integer(key, made, into);
  PyObject* const index_of = PyIndex_Check(key) && !is_boolean(key) ? PyNumber_Index(key) : NULL; /* of numpy */
  if (!index_of) {
    PyErr_Clear();
    return refuse_type(key, index);
  }
  const bool is_key = slice_of_integer(index_of, made, into);
  Py_DECREF(index_of);
  return is_key;
}

static bool mark_missing(object_keys* all, Py_ssize_t index) {
  if (!all->missing) all->missing = calloc((size_t)all->count, 1);
  if (!all->missing) return PyErr_NoMemory(), false;
  all->missing[index] = 1;
  return true;
}

/* Reads keys all of which are integers of 64 bits, or missing.    Returns whether they are. */
static bool read_integers(object_keys* all) {
  all->integers = malloc(((size_t)all->count + 1) * sizeof *all->integers);
  for (Py_ssize_t i = 0; all->integers && i < all->count; ++i) {
    PyObject* const key = PyTuple_GetItem(all->keys, i);
    int is_beyond = 1;
    if (is_integer(key))
      all->integers[i] = PyLong_AsLongLongAndOverflow(key, &is_beyond);
    else if (key == Py_None && mark_missing(all, i))
      is_beyond = 0;
    if (is_beyond) {
      free(all->integers);
      all->integers = NULL;
    }
  }
  PyErr_Clear();
  return all->integers != NULL;
}

/* Reads keys of all types.    Returns false with an exception set. */
static bool read_slices(object_keys* all) {
  all->slices = malloc(((size_t)all->count + 1) * sizeof *all->slices);
  if (!all->slices) return PyErr_NoMemory(), false;
  for (Py_ssize_t i = 0; i < all->count; ++i) {
    PyObject* const key = PyTuple_GetItem(all->keys, i);
    const bool is_usual = PyBytes_Check(key) || PyUnicode_Check(key) || PyLong_Check(key);
    if (!is_usual && is_missing(key)) {
      all->slices[i] = (everseen_slice){NULL, 0};
      if (!mark_missing(all, i)) return false;
    } else if (!slice_of(key, i, all->made, &all->slices[i])) {
      return false;
    }
  }
  return true;
}

object_keys keys_of(PyObject* given, bool as_slices) {
  object_keys all = {.keys = PySequence_Tuple(given)};
  all.made = all.keys ? PyList_New(0) : NULL;
  if (!all.made) return all;
  all.count = PyTuple_Size(all.keys);
  all.is_valid = (!as_slices && read_integers(&all)) || read_slices(&all);
  return all;
}

void free_keys(object_keys* all) {
  free(all->missing);
  free(all->integers);
  free(all->slices);
  Py_XDECREF(all->made);
  Py_XDECREF(all->keys);
}

/* judge_list(keys, adds, drops, times) */
PyObject* judge_list(filter_object* self, PyObject* arguments) {
  PyObject* given;
  manner how;
  if (!PyArg_ParseTuple(arguments, "OppO:judge_list", &given, &how.adds, &how.drops, &how.times) || !is_open(self))
    return NULL;
  object_keys keys = keys_of(given, false);
  const batch b = {.layout = keys.integers ? as_int64 : as_slices, .count = (size_t)keys.count, .slices = keys.slices,
                   .bytes = keys.integers, .missing = keys.missing};
  PyObject* verdicts = keys.is_valid ? run(self, &b, how) : NULL;
  free_keys(&keys);
  return verdicts;
}
