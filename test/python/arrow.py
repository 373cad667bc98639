"""Arrow arrays without pyarrow, which Debian does not have."""

import array
import ctypes


class ArrowArray:
    """Arrow's C data interface over bytes, as pyarrow and polars offer it: __arrow_c_array__ returns two capsules."""

    class Schema(ctypes.Structure):
        _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
                    ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]

    class Array(ctypes.Structure):
        _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.c_void_p),
                    ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p),
                    ("private_data", ctypes.c_void_p)]

    def __init__(self, keys, form=b"z", offset=0, nulls=()):
        self.form = form
        joined = b"".join(keys)
        ends = [0]
        for key in keys:
            ends.append(ends[-1] + len(key))
        self.offsets = array.array("i" if form in b"zu" else "q", ends)
        self.bytes = ctypes.create_string_buffer(joined, len(joined) + 1)
        self.validity = bytearray(b"\xff" * (len(keys) // 8 + 1))
        for i in nulls:
            self.validity[i // 8] &= ~(1 << i % 8)
        mask = (ctypes.c_char * len(self.validity)).from_buffer(self.validity) if nulls else None
        starts = self.offsets.buffer_info()[0]
        data = ctypes.addressof(self.bytes)
        first = data if form.startswith(b"w:") else starts
        self.buffers = (ctypes.c_void_p * 3)(ctypes.addressof(mask) if nulls else None, first, data)
        self.release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
        release = ctypes.cast(self.release, ctypes.c_void_p)
        self.schema = self.Schema(format=form, release=release)
        self.array = self.Array(length=len(keys) - offset, null_count=len(nulls), offset=offset, n_buffers=3,
                                buffers=ctypes.addressof(self.buffers), release=release)

    def __arrow_c_array__(self, requested_schema=None):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.names = (b"arrow_schema", b"arrow_array")
        return (make(ctypes.addressof(self.schema), self.names[0], None),
                make(ctypes.addressof(self.array), self.names[1], None))
