import assert from "node:assert/strict";
import test from "node:test";

import { lineBitsOf, LineFilter, positionOf } from "page/bloom/line";
import { siphash128 } from "page/bloom/siphash";

// doc/hashing.md, "Worked example", and test/core/layout/layout_golden_test.cpp: a segment of 1,000 lines.
const example = { low: 0x6fb5374fa9d0260an, high: 0xb26018daecd8ceebn };

test("line and bits are those of the worked example", () => {
  assert.deepEqual(lineBitsOf(example, 1000), { line: 436, bits: [43, 59, 12, 54, 44, 43, 13, 6] });
});

test("bits have the positions that the program gives them", () => {
  const { line, bits } = lineBitsOf(example, 1000);
  assert.deepEqual(
    bits.map((bit, word) => positionOf(line, word, bit)).sort((a, b) => a - b),
    [223276, 223356, 223371, 223473, 223531, 223596, 223626, 223681],
  );
});

test("a line filter never denies an added word", () => {
  const digests = Array.from({ length: 200 }, (_, i) => siphash128(`word ${i}`));
  const filter = new LineFilter(4, digests);
  assert.ok(digests.every((digest) => filter.mayContain(digest)));
});

test("its current false-positive rate is the fraction of wrong answers", () => {
  const filter = new LineFilter(4, Array.from({ length: 300 }, (_, i) => siphash128(`word ${i}`)));
  const tries = 20000;
  let wrong = 0;
  for (let i = 0; i < tries; ++i) if (filter.mayContain(siphash128(`other ${i}`))) ++wrong;
  const chance = filter.chanceNow();
  const deviation = Math.sqrt((chance * (1 - chance)) / tries);
  assert.ok(Math.abs(wrong / tries - chance) < 5 * deviation, `${wrong / tries} against ${chance}`);
});
