import assert from "node:assert/strict";
import { test } from "node:test";

import type { FilterCounters, Stats } from "page/api";
import { historySeconds, withSamples } from "page/watch/use_watch";

/** The report of a server at a given second: the number of added keys, for the filters that it includes. */
function told(second: number, adds: Record<string, number>): Stats {
  const none = { fresh: 0, seen: 0, late: 0, unknown: 0 };
  const filters = Object.entries(adds).map(([url, keys]) => ({
    url,
    adds: keys,
    checks: 0,
    verdicts: { add: { ...none, fresh: keys }, check: none },
  }));
  return { now_ms: second * 1000, filters: filters as unknown as FilterCounters[] } as Stats;
}

const seconds = (history: ReturnType<typeof withSamples>, url: string): number[] | undefined =>
  history.get(url)?.map((sample) => sample.at);

test("each update adds a sample, and samples older than the graph are dropped", () => {
  let history = withSamples(new Map(), told(1000, { a: 0 }));
  for (let second = 1001; second <= 1300; ++second) history = withSamples(history, told(second, { a: second }));
  const kept = seconds(history, "a")!;
  assert.equal(kept[kept.length - 1], 1300);
  assert.ok(kept.length >= historySeconds && kept.length <= historySeconds + 3, `${kept.length} samples`);
  assert.equal(history.get("a")![0].verdicts.fresh, kept[0]);
});

test("a restarted server starts a new history", () => {
  const before = withSamples(new Map(), told(1000, { a: 500 }));
  assert.deepEqual(seconds(withSamples(before, told(1001, { a: 3 })), "a"), [1001]);
});

test("a filter without updates for a moment keeps its history, and a missing filter loses it", () => {
  let history = withSamples(new Map(), told(1000, { a: 1, b: 1 }));
  history = withSamples(history, told(1010, { b: 2 }));
  history = withSamples(history, told(1020, { a: 5, b: 2 }));
  assert.deepEqual(seconds(history, "a"), [1000, 1020]);
  history = withSamples(history, told(1020 + historySeconds, { b: 2 }));
  assert.equal(history.has("a"), false);
});
