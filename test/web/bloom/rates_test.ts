import assert from "node:assert/strict";
import test from "node:test";

import { bestProbes, bitsPerKey, chosenLayout, classicRate, layouts, probesOfLayout, rateOf } from "page/bloom/rates";

// Recorded from `everseen plan --keys 1e9 --error-rate RATE --json`: picked, then bits a key and probes of each layout.
const recorded: [number, string, [number, number][]][] = [
  [1e-2, "line-8x64", [[9.59295488, 7], [10.099308032, 8], [12.46326784, 16], [11.758362624, 16], [16.513697792, 32]]],
  [1e-4, "line-16x32", [[19.172955136, 13], [23.606795776, 8], [23.00763136, 16], [20.198615552, 16], [24.926535168, 32]]],
  [1e-6, "two-line-8x64", [[28.755278848, 20], [51.867596288, 8], [39.237623296, 16], [31.44921088, 16], [34.480676352, 32]]],
  [1e-9, "two-line-16x32", [[43.132918272, 30], [186.768997376, 8], [86.332644864, 16], [57.513481216, 16], [52.772285952, 32]]],
];

function near(actual: number, expected: number, relative: number, what: string): void {
  assert.ok(Math.abs(actual / expected - 1) < relative, `${what}: ${actual} against ${expected}`);
}

test("bits a key and probes are the program's, in every layout", () => {
  for (const [rate, , figures] of recorded)
    figures.forEach(([bits, probes], i) => {
      near(bitsPerKey(layouts[i], rate), bits, 1e-5, `${layouts[i]} at ${rate}`);
      assert.equal(probesOfLayout(layouts[i], rate), probes);
    });
});

test("the selected layout is the one that the program picks", () => {
  for (const [rate, picked] of recorded) assert.equal(chosenLayout(rate), picked);
});

test("rate and bits a key are each other's inverse", () => {
  for (const rate of [0.3, 1e-3, 1e-7, 1e-12]) {
    near(classicRate(bestProbes(rate), bitsPerKey("classic", rate)), rate, 1e-9, "classic");
    for (const layout of layouts)
      if (layout !== "classic") near(rateOf(layout, bitsPerKey(layout, rate)), rate, 1e-6, layout);
  }
});

test("the best number of probes leaves half of the bits on", () => {
  const rate = 1e-4;
  const share = 1 - Math.exp(-bestProbes(rate) / bitsPerKey("classic", rate));
  near(share, 0.5, 0.03, "share");
});
