import assert from "node:assert/strict";
import test from "node:test";

import { bytes, chance, clock, count, oneIn, power10, shortCount } from "page/ui/format";

test("chances are percents down to a thousandth, then powers of ten", () => {
  assert.equal(chance(0), "0");
  assert.equal(chance(0.111), "11.1 %");
  assert.equal(chance(0.0045), "0.45 %");
  assert.equal(chance(3.2e-6), "3.2 · 10⁻⁶");
  assert.equal(chance(1e-9), "10⁻⁹");
  assert.equal(chance(9.99e-7), "10⁻⁶");
  assert.equal(power10(-12), "10⁻¹²");
});

test("counts are short in the words of each language", () => {
  assert.equal(shortCount(1.5e6, "en"), "1.5 million");
  assert.equal(shortCount(1e9, "en"), "1 billion");
  assert.equal(shortCount(1.5e6, "zh"), "150 万");
  assert.equal(shortCount(1e9, "zh"), "10 亿");
  assert.equal(count(1234567), "1,234,567");
  assert.equal(oneIn(1e6, "en"), "1 in 1 million");
  assert.equal(oneIn(1e6, "zh"), "1 / 100 万");
});

test("memory is in powers of 1024, as the program prints it", () => {
  assert.equal(bytes(64), "64 B");
  assert.equal(bytes(1536), "1.5 KiB");
  assert.equal(bytes(1262464), "1.2 MiB");
});

test("time is minutes and seconds", () => {
  assert.equal(clock(0), "0:00");
  assert.equal(clock(840), "14:00");
});
