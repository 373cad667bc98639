"""Keys of every type that the Python package takes, and keys that are missing."""

import decimal
import random
import unittest

import everseen
from arrow import ArrowArray
from everseen import FRESH, MISSING, SEEN, UNKNOWN, InvalidError

try:
    import numpy
    import pandas
except ImportError:  # everything else works without
    numpy = pandas = None

NAN = float("nan")


def with_gaps():
    """The keys a, (missing), b, a in every form."""
    forms = [["a", None, "b", "a"], ("a", NAN, b"b", "a"), iter(["a", decimal.Decimal("NaN"), "b", "a"]),
             ArrowArray([b"a", b"", b"b", b"a"], b"z", nulls=[1]), ArrowArray([b"a", b"", b"b", b"a"], b"U", nulls=[1]),
             ArrowArray([b"x", b"a", b"x", b"b", b"a"], b"w:1", offset=1, nulls=[2])]
    if numpy:
        forms += [numpy.array(["a", None, "b", "a"], dtype=object), ["a", numpy.float32("nan"), "b", "a"],
                  numpy.ma.array([b"a", b"x", b"b", b"a"], mask=[0, 1, 0, 0]),
                  numpy.ma.array(["a", "x", "b", "a"], mask=[0, 1, 0, 0]),
                  numpy.ma.array(["a", "x", "b", "a"], mask=[0, 1, 0, 0], dtype=object)]
    if pandas:
        forms += [pandas.Series(["a", None, "b", "a"]), pandas.Series(["a", pandas.NA, "b", "a"], dtype="string"),
                  ["a", pandas.NaT, "b", "a"], pandas.Series(["a", NAN, "b", "a"], dtype="category")]
    return forms


def integers_with_gaps():
    """The keys 1, (missing), 2, 1 in every form."""
    forms = [[1, None, 2, 1], [1, NAN, 2, 1], [None, None, None, None]]
    if numpy:
        forms += [numpy.ma.array([1, 9, 2, 1], mask=[0, 1, 0, 0], dtype=kind) for kind in ("i1", "u8", ">i4")]
    if pandas:
        forms += [pandas.Series([1, None, 2, 1], dtype=kind) for kind in ("Int64", "UInt8")]
        forms += [pandas.array([1, None, 2, 1], dtype="Int32"), pandas.Series([1, None, 2, 1], dtype=object)]
    return forms


class Missing(unittest.TestCase):
    def made(self, **options):
        f = everseen.memory(**options)
        self.addCleanup(f.close)
        return f

    def test_a_missing_key_is_an_error_with_its_index_and_adds_nothing(self):
        for keys in [*with_gaps(), *integers_with_gaps()[:2]]:
            f = self.made()
            with self.assertRaisesRegex(InvalidError, "key 1 is missing.*missing=\"drop\"", msg=f"{keys!r}"):
                f.add_many(keys)
            self.assertEqual(f.info()["keys"], 0)

    def test_dropped_keys_are_missing_and_all_others_have_their_verdicts(self):
        for keys in [*with_gaps(), *integers_with_gaps()[:2], *integers_with_gaps()[3:]]:
            f = self.made()
            self.assertEqual(list(f.add_many(keys, missing="drop")), [FRESH, MISSING, FRESH, SEEN], f"{keys!r}")
            self.assertEqual(f.info()["keys"], 2)
        f = self.made()
        self.assertEqual(list(f.add_many([None] * 3, missing="drop", time=[1, 2, 3])), [MISSING] * 3)
        self.assertEqual(list(f.check_many([None, "a"], missing="drop")), [MISSING, FRESH])

    def test_missing_keys_are_passed_or_dropped_by_masks_and_dedup(self):
        for keys in with_gaps():
            self.assertEqual(list(self.made().fresh(keys, missing="drop")), [True, False, True, False], f"{keys!r}")
        for keys in with_gaps():
            self.assertEqual(list(self.made().fresh(keys, missing="pass")), [True, True, True, False], f"{keys!r}")
        items = [{"id": "a"}, {}, {"id": "a"}, {}]

        def unique(**options):
            return list(everseen.dedup(items, lambda item: item.get("id"), **options))

        self.assertEqual(unique(missing="drop"), items[:1])
        self.assertEqual(unique(missing="pass"), [{"id": "a"}, {}, {}])
        with self.assertRaisesRegex(InvalidError, "key 1 is missing"):
            unique()

    def test_other_words_for_missing_keys_are_refused(self):
        f = self.made()
        for call in (f.add_many, f.check_many, f.fresh):
            with self.assertRaisesRegex(InvalidError, "missing='skip'; choose one of 'fail', 'drop'"):
                call(["a"], missing="skip")
        with self.assertRaises(InvalidError):
            f.add_many(["a", None], missing="pass")
        for single in (None, NAN):
            with self.assertRaisesRegex(InvalidError, "key 0 is missing"):
                f.add(single)
            with self.assertRaisesRegex(InvalidError, "key 0 is missing"):
                single in f
            with f.job("count") as job, self.assertRaisesRegex(InvalidError, "key 1 is missing"):
                job.claim("clicks/0", ["a", single], [1, 2])
        self.assertEqual(f.info()["keys"], 0)

    def test_times_stay_with_their_keys(self):
        f = self.made(window=60)
        keys = ["old", None, "new", None, "new"]
        verdicts = f.add_many(keys, time=[0, 0, 1000, 0, 0], missing="drop")
        self.assertEqual(list(verdicts), [FRESH, MISSING, FRESH, MISSING, everseen.LATE])
        for times in ([1, 2], [1] * 3, [1] * 6):
            with self.assertRaisesRegex(InvalidError, f"{len(times)} times for 5 keys"):
                f.add_many(keys, time=times, missing="drop")

    def test_a_failed_batch_has_the_verdicts_of_all_keys(self):
        f = self.made(capacity=100, growth="refuse")
        keys = [None if i % 2 else i for i in range(2000)]
        with self.assertRaises(everseen.FullError) as caught:
            f.add_many(keys, missing="drop")
        verdicts = caught.exception.verdicts
        self.assertEqual(len(verdicts), 2000)
        self.assertTrue(all(v == MISSING for v in verdicts[1::2]))
        self.assertEqual([verdicts[0], verdicts[1998]], [FRESH, UNKNOWN])

    def test_offsets_that_reach_too_far_are_refused_beside_nulls(self):
        for form, wrong in ((b"z", 2**30), (b"Z", 2**60)):
            for at, what in ((1, "do not ascend"), (2, "do not ascend")):
                keys = ArrowArray([b"a", b"b", b"c"], form, nulls=[at - 1])
                keys.offsets[at] = wrong
                with self.assertRaisesRegex(InvalidError, what):
                    self.made().add_many(keys, missing="drop")


class Integers(unittest.TestCase):
    LIMITS = [0, 7, -1, 10, -10, 99, 100, 2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63), 12345678901]

    def test_a_list_of_integers_is_one_of_their_digits(self):
        random.seed(3)
        keys = self.LIMITS + [random.randrange(-(10**k), 10**k) for k in range(1, 19) for _ in range(50)]
        with everseen.memory() as f:
            self.assertEqual(list(f.add_many(keys)), [SEEN if k in keys[:i] else FRESH for i, k in enumerate(keys)])
            self.assertTrue(all(v == SEEN for v in f.check_many([str(k) for k in keys])))
        with everseen.memory() as f:
            self.assertEqual(list(f.add_many([5, "6", 2**64, -(2**70), b"5", 6])), [FRESH] * 4 + [SEEN] * 2)
            self.assertTrue(all(key in f for key in ("18446744073709551616", str(-(2**70)), 2**64)))
            for wrong in ([1, True], [1, 1.5], [1, [2]]):
                with self.assertRaisesRegex(TypeError, "key 1 is of type"):
                    f.add_many(wrong)

    @unittest.skipUnless(numpy, "numpy is missing")
    def test_arrays_of_integers_are_their_digits_whatever_their_width_and_order(self):
        for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i8", ">u2"):
            limits = numpy.iinfo(kind)
            keys = numpy.array([limits.min, limits.max, 0, 1, 10, 100], dtype=kind)
            if keys.dtype.kind == "u":
                keys = keys[1:]
            digits = [str(k) for k in keys.tolist()]
            for same in (keys, keys.repeat(3)[::3], keys[::-1][::-1], numpy.frombuffer(b"x" + keys.tobytes(), "u1")[1:].view(kind)):
                with everseen.memory() as f:
                    self.assertEqual(f.add_many(same).tolist(), [FRESH] * len(keys), kind)
                    self.assertEqual(list(f.check_many(digits)), [SEEN] * len(keys), kind)
        with everseen.memory() as f:
            self.assertEqual(f.add_many(numpy.array([], dtype="i4")).tolist(), [])
        with everseen.memory() as f:
            self.assertTrue(f.add(numpy.int64(7)))
            self.assertEqual(list(f.add_many([numpy.uint8(7), "7", numpy.int16(8)])), [SEEN, SEEN, FRESH])
            with self.assertRaisesRegex(TypeError, "key 0 is of type bool"):
                f.add(numpy.bool_(True))
            with self.assertRaisesRegex(TypeError, "bool"):
                f.add_many(numpy.array([True]))
            with self.assertRaisesRegex(TypeError, "float64.*Int64"):
                f.add_many(numpy.array([1.0, NAN]), missing="drop")
            with self.assertRaisesRegex(ValueError, "2 dimensions"):
                f.add_many(numpy.array([[1, 2]]))

    @unittest.skipUnless(pandas, "pandas is missing")
    def test_columns_of_pandas_are_their_digits(self):
        for kind in ("int64", "uint8", "Int64", "UInt32"):
            with everseen.memory() as f:
                self.assertEqual(f.add_many(pandas.Series([1, 20, 1], dtype=kind)).tolist(), [FRESH, FRESH, SEEN])
                self.assertIn("20", f)


if __name__ == "__main__":
    unittest.main(verbosity=0)
