import assert from "node:assert/strict";
import test from "node:test";

import { layersAfter, rateOfLayers, rateOverfilled } from "page/bloom/growth";

test("each layer holds twice the words of the last at half its rate", () => {
  const layers = layersAfter(100000, 1000, 0.01);
  layers.forEach((layer, i) => {
    assert.equal(layer.capacity, 1000 * 2 ** i);
    assert.equal(layer.rateFull, 0.01 / 2 ** (i + 1));
  });
  assert.equal(layers.reduce((sum, layer) => sum + layer.keys, 0), 100000);
});

test("a layer begins when the previous one is full, and not earlier", () => {
  assert.equal(layersAfter(1000, 1000, 0.01).length, 1);
  assert.equal(layersAfter(1001, 1000, 0.01).length, 2);
});

test("all layers together stay below the promised rate, however many words are added", () => {
  for (let keys = 100; keys < 1e9; keys *= 3) {
    const rate = rateOfLayers(layersAfter(keys, 1000, 0.01));
    assert.ok(rate > 0 && rate < 0.01, `${keys} words: ${rate}`);
  }
});

test("a single row that is overfilled exceeds the promised rate", () => {
  assert.ok(rateOverfilled(1000, 1000, 0.01) <= 0.01);
  assert.ok(rateOverfilled(2000, 1000, 0.01) > 0.1);
  assert.ok(rateOverfilled(64000, 1000, 0.01) > 0.99);
});
