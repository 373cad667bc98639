"""Keys of pyarrow and polars as they are, each type beside the same keys in a list."""

import os
import sys
import unittest

import everseen
from everseen import FRESH, MISSING, SEEN

try:
    import pyarrow
except ImportError:
    pyarrow = None
try:
    import polars
except ImportError:
    polars = None
try:
    import pandas
except ImportError:
    pandas = None  # comes with them

TEXTS = ["a", None, "a text of more than twelve bytes", "", "a", "é", "another text that is long"]
NUMBERS = [1, None, -2 + 3, 100, 1, 7, 0]
EXPECTED = [MISSING if k is None else SEEN if k in TEXTS[:i] else FRESH for i, k in enumerate(TEXTS)]


class Arrow(unittest.TestCase):
    def assert_same(self, keys, values, name):
        """Alone, sliced, and without the missing key, verdicts are those of a list."""
        with everseen.memory() as one, everseen.memory() as other:
            expected = list(other.add_many(values, missing="drop"))
            self.assertEqual(list(one.add_many(keys, missing="drop")), expected, name)
            present = [v for v in values if v is not None]
            self.assertTrue(all(v == SEEN for v in one.check_many(present)), name)
            self.assertEqual(one.info()["keys"], other.info()["keys"], name)
            with self.assertRaisesRegex(everseen.InvalidError, "key 1 is missing", msg=name):
                one.add_many(keys)
        with everseen.memory() as one, everseen.memory() as other:
            self.assertEqual(list(one.add_many(keys[2:])), list(other.add_many(values[2:])), name)

    def test_arrays_of_pyarrow(self):
        for kind in ("string", "large_string", "binary", "large_binary", "string_view", "binary_view"):
            keys = pyarrow.array(TEXTS, getattr(pyarrow, kind)())
            self.assert_same(keys, TEXTS, kind)
            chunked = pyarrow.chunked_array([keys[:3], keys[3:3], keys[3:]])
            self.assert_same(chunked, TEXTS, f"{kind} in chunks")
            self.assert_same(pyarrow.chunked_array([keys]), TEXTS, f"{kind} in a chunk")
        for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
            keys = pyarrow.array(NUMBERS, getattr(pyarrow, kind)())
            self.assert_same(keys, NUMBERS, kind)
            self.assert_same(pyarrow.chunked_array([keys[:3], keys[3:]]), NUMBERS, f"{kind} in chunks")
        limits = [-(2**63), 2**63 - 1]
        self.assertTrue(everseen.memory().fresh(pyarrow.array(limits)).all())
        with everseen.memory() as f:
            f.add_many(pyarrow.array([2**64 - 1], pyarrow.uint64()))
            self.assertIn(2**64 - 1, f)

    def test_dictionaries_of_pyarrow(self):
        for index in ("int8", "uint16", "int32", "int64"):
            for value in ("string", "large_string", "binary"):
                kind = pyarrow.dictionary(getattr(pyarrow, index)(), getattr(pyarrow, value)())
                keys = pyarrow.array(TEXTS, getattr(pyarrow, value)()).dictionary_encode().cast(kind)
                self.assert_same(keys, TEXTS, str(kind))
                self.assert_same(pyarrow.chunked_array([keys[:2], keys[2:]]), TEXTS, f"{kind} in chunks")
        with_null = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 0]), pyarrow.array(["a", None]))
        self.assertEqual(list(everseen.memory().add_many(with_null, missing="drop")), [FRESH, MISSING, SEEN])

    def test_other_arrays_of_pyarrow(self):
        for wrong in (pyarrow.array([1.5]), pyarrow.array([True]), pyarrow.array([[1]]), pyarrow.array([{"a": 1}]),
                      pyarrow.array([1], pyarrow.timestamp("s")), pyarrow.array([1.5]).dictionary_encode()):
            for keys in (wrong, pyarrow.chunked_array([wrong])):
                with self.assertRaisesRegex(TypeError, "cast them to string", msg=str(wrong.type)):
                    everseen.memory().add_many(keys)
        self.assertEqual(list(everseen.memory().add_many(pyarrow.nulls(2), missing="drop")), [MISSING] * 2)
        self.assertEqual(list(everseen.memory().add_many(pyarrow.chunked_array([], pyarrow.string()))), [])
        fixed = pyarrow.array([b"ab", None, b"ab"], pyarrow.binary(2))
        self.assertEqual(list(everseen.memory().add_many(fixed, missing="drop")), [FRESH, MISSING, SEEN])

    def test_columns_of_polars(self):
        texts = polars.Series("url", TEXTS)
        for keys in (texts, texts.cast(polars.Categorical), texts.cast(polars.Binary), polars.concat([texts[:3], texts[3:]], rechunk=False)):
            self.assert_same(keys, TEXTS, str(keys.dtype))
        for kind in (polars.Int8, polars.Int64, polars.UInt32, polars.UInt64):
            self.assert_same(polars.Series("n", NUMBERS, dtype=kind), NUMBERS, str(kind))
        frame = polars.DataFrame({"url": ["a", "b", "a"]})
        with everseen.memory() as f:
            self.assertEqual(frame.filter(polars.Series(f.fresh(frame["url"])))["url"].to_list(), ["a", "b"])

    def test_columns_of_pandas_that_arrow_keeps(self):
        for kind in ("string[pyarrow]", pandas.ArrowDtype(pyarrow.large_string())):
            keys = pandas.Series(TEXTS, dtype=kind)
            with everseen.memory() as f:
                self.assertEqual(f.add_many(keys, missing="drop").tolist(), EXPECTED)
        with everseen.memory() as f:
            numbers = pandas.Series(NUMBERS, dtype=pandas.ArrowDtype(pyarrow.int32()))
            self.assertEqual(f.add_many(numbers, missing="drop").tolist().count(MISSING), 1)


if __name__ == "__main__":
    if not (pyarrow and polars) and not os.environ.get("EVERSEEN_PEERS_REQUIRED"):
        print("pyarrow or polars is missing: ./dev peers brings both")
        sys.exit(77)  # ctest reports it as skipped
    unittest.main(verbosity=0)
