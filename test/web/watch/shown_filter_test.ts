/** A link to a filter leads to a filter, and to nothing else of the server. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf } from "page/watch/shown_filter";

const pathOf = (detail: string): string => new URL(addressOf(detail), "http://server").pathname;

test("the address of a filter is the one that the server assigns", () => {
  for (const segment of ["clicks", "a%2Fb%20%E6%98%A5", "%403%3Aa", "%22..%22", "%FF"])
    assert.equal(addressOf(segment), `/api/v1/filters/${segment}`);
});

test("a name is one segment of the path, whatever it contains", () => {
  for (const detail of ["../stats", "..\\stats", "a/../../stats", "a?b", "a#b", ".\t./stats", "a/b 春", "😀"])
    assert.match(pathOf(detail), /^\/api\/v1\/filters\/[^/]+$/, detail);
});

test("no filter has the address of a step", () => {
  for (const detail of [".", "..", "%2e", "%2E.", ".%2e", "%2e%2E"]) assert.equal(addressOf(detail), "", detail);
});
