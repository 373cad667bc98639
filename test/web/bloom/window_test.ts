import assert from "node:assert/strict";
import test from "node:test";

import { forgottenAt, remembers, sliceWidth } from "page/bloom/window";

test("a key is remembered for at least the width, and at most one slice more", () => {
  for (const slices of [1, 3, 10])
    for (const time of [0, 1, 59.9, 60, 321]) {
      const window = { width: 600, slices };
      const kept = forgottenAt(window, time) - time;
      assert.ok(kept >= 600 && kept <= 600 + sliceWidth(window) + 1e-9, `${slices} slices: ${kept}`);
    }
});

test("it is forgotten at that moment and not before", () => {
  const window = { width: 600, slices: 5 };
  const end = forgottenAt(window, 150);
  assert.equal(end, 840);
  assert.ok(remembers(window, 150, end - 0.001));
  assert.ok(!remembers(window, 150, end));
});
