import assert from "node:assert/strict";
import { test } from "node:test";

import { firstWish, planAddress, readWish, unknowns, writeWish } from "page/plan/wish";
import type { Wish } from "page/plan/wish";

const wish: Wish = { ...firstWish, keys: 3e6, bits: 2 ** 25, error_rate: 1e-4, probes: 7, layout: "classic", redis: true };

test("a wish is read from the address as it was written, but for what is to be found", () => {
  for (const find of unknowns) {
    const read = readWish(new URLSearchParams(writeWish({ ...wish, find })));
    assert.deepEqual(read, { ...wish, find, [find]: firstWish[find] });
  }
});

test("the planner is asked for what is not given to it", () => {
  for (const find of unknowns) {
    const query = new URLSearchParams(planAddress({ ...wish, find }).split("?")[1]);
    for (const name of unknowns) assert.equal(query.has(name), name !== find, `${find}: ${name}`);
    assert.equal(query.get("layout"), "classic");
  }
});

test("the best number of probes is the planner's, and a number of one's own is of the classic layout", () => {
  const best = planAddress({ ...firstWish, layout: "line-16x32" });
  assert.match(best, /layout=line-16x32/);
  assert.doesNotMatch(best, /probes/);
  assert.match(planAddress({ ...firstWish, probes: 3, layout: "line-16x32" }), /probes=3.*layout=classic/);
});

test("what an address says wrongly is as at first", () => {
  const wrong = "find=all&keys=0&bits=1&error_rate=0.9&probes=65&values=x&layout=round&redis=yes";
  assert.deepEqual(readWish(new URLSearchParams(wrong)), firstWish);
});
