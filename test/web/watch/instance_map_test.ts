import assert from "node:assert/strict";
import { test } from "node:test";

import type { PartitionInfo } from "page/api";
import { groupsOf } from "page/watch/instance_map";

function partitions(count: number): PartitionInfo[] {
  return Array.from({ length: count }, (_, partition) => ({
    partition,
    place: "",
    keys: 10,
    room: 0,
    fill: partition % 2,
    bytes: 64,
    error_rate_now: 0,
    slices: [],
  }));
}

test("few partitions have a lamp each", () => {
  assert.deepEqual(groupsOf(partitions(2)), [
    { first: 0, last: 0, keys: 10, fill: 0 },
    { first: 1, last: 1, keys: 10, fill: 1 },
  ]);
  assert.deepEqual(groupsOf([]), []);
});

test("neighbours of many partitions share a lamp, and none is omitted", () => {
  const groups = groupsOf(partitions(65536));
  assert.equal(groups.length, 128);
  assert.deepEqual(groups[1], { first: 512, last: 1023, keys: 5120, fill: 0.5 });
  const uneven = groupsOf(partitions(1000));
  assert.ok(uneven.length <= 128);
  assert.equal(uneven.reduce((sum, group) => sum + group.keys, 0), 10000);
  assert.equal(uneven[uneven.length - 1].last, 999);
});
