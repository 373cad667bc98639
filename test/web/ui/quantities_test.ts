import assert from "node:assert/strict";
import { test } from "node:test";

import { kinds, readBits, readClock, readCount, readOneIn, readRate, stepped } from "page/ui/quantities";
import { writeBits, writeCount, writeRate } from "page/ui/quantities";

test("counts are read with the units of the command line", () => {
  assert.equal(readCount("1000000"), 1e6);
  assert.equal(readCount(" 10M "), 1e7);
  assert.equal(readCount("1.5G"), 1.5e9);
  assert.equal(readCount("0.3k"), 300);
  assert.equal(readCount("64Ki"), 65536);
  assert.equal(readCount("1e9"), 1e9);
  assert.equal(readCount("1,234,567"), 1234567);
  assert.equal(readCount("1_000_000"), 1e6);
  assert.equal(readCount("1,000.5k"), 1000500);
  assert.equal(readCount("1MB"), 1e6);
  assert.equal(readCount("1MiB"), 2 ** 20);
  assert.equal(readCount("5B"), 5);
});

test("only whole numbers are counts", () => {
  for (const text of ["", "M", "1.5", "10 million", "-1", "1e", "0x10", "10m", "1,23", "1,0000", "1_000,000", ",5", "1KB5", "1 B", "1b", "1e-3", "NaN"])
    assert.equal(readCount(text), null, text);
});

test("memory is read in bits, and in bytes with the suffix B", () => {
  assert.equal(readBits("1M"), 1e6);
  assert.equal(readBits("1MB"), 8e6);
  assert.equal(readBits("64MiB"), 2 ** 29);
  assert.equal(readBits("9,585,059"), 9585059);
  assert.equal(writeBits(2 ** 29), "64MiB");
  assert.equal(writeBits(8e6), "1MB");
  assert.equal(writeBits(1e6), "125kB");
  assert.equal(writeBits(9585059), "9585059");
  for (const bits of [512, 1e4, 9585059, 2 ** 40, 1e13]) assert.equal(readBits(writeBits(bits)), bits);
});

test("rates are read as fractions and percentages, to three digits", () => {
  assert.equal(readRate("0.001"), 0.001);
  assert.equal(readRate("0.1%"), 0.001);
  assert.equal(readRate("0.1 %"), 0.001);
  assert.equal(readRate("1e-6"), 1e-6);
  assert.equal(readRate("0.0012345"), 0.00123);
  for (const text of ["", "%", "1/1000", "-0.1", "0.1%%"]) assert.equal(readRate(text), null, text);
});

test("a rate of one in N is read in any of its forms", () => {
  for (const text of ["1000", "1k", "1 in 1000", "1/1000", "1:1k", "0.001", "0.1%", "1e-3"])
    assert.equal(readOneIn(text), 1000, text);
  assert.equal(readOneIn("one in ten"), null);
});

test("times of a clock are read in minutes or seconds", () => {
  assert.equal(readClock("2:30"), 150);
  assert.equal(readClock("150"), 150);
  assert.equal(readClock("2:75"), null);
});

test("written values are short, and are read back unchanged", () => {
  assert.equal(writeCount(1e7), "10M");
  assert.equal(writeCount(1.5e9), "1.5G");
  assert.equal(writeCount(1234567), "1234567");
  assert.equal(writeCount(1000), "1000");
  assert.equal(writeRate(1e-6), "1e-6");
  assert.equal(writeRate(0.001), "0.001");
  for (let exponent = 0; exponent < 14; ++exponent)
    for (const digits of [1, 1.26, 3.16, 7.94]) {
      const count = Math.round(digits * 10 ** exponent);
      assert.equal(readCount(writeCount(count)), count);
      const rate = Number((digits / 10 ** (exponent + 1)).toPrecision(3));
      assert.equal(readRate(writeRate(rate)), rate);
    }
});

test("a step is that of the slider, also between two of its steps", () => {
  assert.equal(stepped(kinds.count, 1e6, 10), 1e7);
  assert.equal(stepped(kinds.count, 1_010_000, -10), 1e5);
  assert.equal(stepped(kinds.rate, 1e-3, -10), 1e-4);
  assert.equal(stepped(kinds.whole, 7, -1), 6);
});
