import assert from "node:assert/strict";
import test from "node:test";

import { fnv1a, murmur3 } from "page/bloom/hashes";
import { siphash128 } from "page/bloom/siphash";

test("FNV-1a gives the values that its authors published", () => {
  assert.equal(fnv1a(""), 0x811c9dc5);
  assert.equal(fnv1a("a"), 0xe40c292c);
  assert.equal(fnv1a("b"), 0xe70c2de5);
  assert.equal(fnv1a("foobar"), 0xbf9cf968);
});

test("Murmur3 gives the known values, for every length of the remainder", () => {
  assert.equal(murmur3(""), 0);
  assert.equal(murmur3("", 1), 0x514e28b7);
  assert.equal(murmur3("hello"), 0x248bfa47);
  assert.equal(murmur3("hello, world"), 0x149bbb7f);
  assert.equal(murmur3("The quick brown fox jumps over the lazy dog"), 0x2e4ff723);
  assert.equal(murmur3("aaaa", 0x9747b28c), 0x5a97808a);
  assert.equal(murmur3("aaa", 0x9747b28c), 0x283e0130);
  assert.equal(murmur3("aa", 0x9747b28c), 0x5d211726);
  assert.equal(murmur3("a", 0x9747b28c), 0x7fa09ea6);
});

test("words are hashed as UTF-8", () => {
  assert.equal(murmur3("ππππππππ", 0x9747b28c), 0xd58063c1);
});

// test/core/hash/digest_golden_test.cpp pins the same digests for the program.
test("SipHash gives the digests of the program", () => {
  const digests: [string, bigint, bigint][] = [
    ["", 0xe6a825ba047f81a3n, 0x930255c71472f66dn],
    ["everseen", 0xbfab82b0ede5f01fn, 0x60a519df1e7eac59n],
    ["user:42", 0x1c0ecc9e601f6c1dn, 0xd0cd2a140b925694n],
    ["x".repeat(300), 0x8e6f44ee760056b1n, 0x47bc7659bfdf2036n],
  ];
  for (const [key, low, high] of digests) assert.deepEqual(siphash128(key), { low, high }, key);
});
