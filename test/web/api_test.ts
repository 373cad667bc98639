import assert from "node:assert/strict";
import { test } from "node:test";

import { authorizationOf } from "page/api";

test("a password is sent as the bytes of UTF-8, each as one character of a header", () => {
  assert.equal(authorizationOf("sesame"), "Bearer sesame");
  assert.equal(authorizationOf("é"), "Bearer \xc3\xa9");
  assert.ok([...authorizationOf("门 🔑")].every((character) => character.charCodeAt(0) < 256));
});
