import assert from "node:assert/strict";
import test from "node:test";

import { murmur3 } from "page/bloom/hashes";
import { add, bitsOf, chanceNow, expectedChance, probesOf, witnesses, wordsOn } from "page/bloom/row";
import type { Row } from "page/bloom/row";

const empty: Row = { size: 15, probes: 2, words: [] };

test("a word's bits are the remainders of its two hashes", () => {
  assert.deepEqual(
    probesOf("foobar", empty).map((probe) => probe.position),
    [0xbf9cf968 % 15, probesOf("foobar", { ...empty, probes: 2 })[1].hash % 15],
  );
});

test("further probes are sums of the two hashes, modulo 2^32", () => {
  const [first, second, third, fourth] = probesOf("ever", { size: 64, probes: 4 });
  assert.equal(third.hash, (first.hash + second.hash) % 2 ** 32);
  assert.equal(fourth.hash, (first.hash + 2 * second.hash) % 2 ** 32);
});

test("no added word is denied, whatever the size and the probes", () => {
  const words = ["bloom", "ever", "seen", "春天", "a b"];
  for (const size of [4, 15, 64])
    for (const probes of [1, 2, 6]) {
      const row = words.reduce(add, { size, probes, words: [] } as Row);
      for (const word of words) assert.deepEqual(witnesses(word, row), [], `${word} in ${size} bits`);
    }
});

test("an empty row denies everything and is never wrong", () => {
  assert.ok(witnesses("bloom", empty).length > 0);
  assert.equal(chanceNow(empty), 0);
});

test("a word that is added twice changes nothing", () => {
  const once = add(empty, "bloom");
  assert.equal(add(once, "bloom"), once);
});

test("the current rate is the share of bits that are on, to the power of the probes", () => {
  const row = add(add(empty, "bloom"), "lamp");
  const on = bitsOf(row).filter(Boolean).length;
  assert.equal(chanceNow(row), (on / 15) ** 2);
});

test("the current rate averages to the expected one over many rows", () => {
  const shape = { size: 61, probes: 2 };
  const rows = 2000;
  let sum = 0;
  for (let i = 0; i < rows; ++i) {
    const words = Array.from({ length: 20 }, (_, j) => murmur3(`${i} ${j}`).toString(36));
    sum += chanceNow({ ...shape, words });
  }
  const expected = expectedChance(shape, 20);
  assert.ok(Math.abs(sum / rows - expected) < 0.01, `${sum / rows} against ${expected}`);
});

test("every word with a bit switched it on, in the order in which they were added", () => {
  const row = ["bloom", "lamp", "ever"].reduce(add, { ...empty, size: 4 });
  bitsOf(row).forEach((on, position) => {
    const by = wordsOn(position, row);
    assert.equal(by.length > 0, on);
    assert.deepEqual(by, row.words.filter((word) => by.includes(word)));
    for (const word of by) assert.ok(probesOf(word, row).some((probe) => probe.position === position));
  });
});
