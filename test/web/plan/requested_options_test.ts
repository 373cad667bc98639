import assert from "node:assert/strict";
import { test } from "node:test";

import { defaultOptions, planAddress, readOptions, unknowns, writeOptions } from "page/plan/requested_options";
import type { RequestedOptions } from "page/plan/requested_options";

const options: RequestedOptions = { ...defaultOptions, keys: 3e6, bits: 2 ** 25, error_rate: 1e-4, probes: 7, layout: "classic" };

test("options are read from the address as they were written, except the one to be computed", () => {
  for (const find of unknowns) {
    const read = readOptions(new URLSearchParams(writeOptions({ ...options, find })));
    assert.deepEqual(read, { ...options, find, [find]: defaultOptions[find] });
  }
});

test("the planner is asked for the missing quantities", () => {
  for (const find of unknowns) {
    const query = new URLSearchParams(planAddress({ ...options, find }).split("?")[1]);
    for (const name of unknowns) assert.equal(query.has(name), name !== find, `${find}: ${name}`);
    assert.equal(query.get("layout"), "classic");
  }
});

test("the best number of probes is the planner's, and a custom number uses the classic layout", () => {
  const best = planAddress({ ...defaultOptions, layout: "line-16x32" });
  assert.match(best, /layout=line-16x32/);
  assert.doesNotMatch(best, /probes/);
  assert.match(planAddress({ ...defaultOptions, probes: 3, layout: "line-16x32" }), /probes=3.*layout=classic/);
});

test("invalid parts of an address have their default values", () => {
  const wrong = "find=all&keys=0&bits=1&error_rate=0.9&probes=65&values=x&layout=round";
  assert.deepEqual(readOptions(new URLSearchParams(wrong)), defaultOptions);
});
