import assert from "node:assert/strict";
import { test } from "node:test";

import { faultOf } from "page/ui/faults";
import type { Fault } from "page/ui/faults";
import { kinds } from "page/ui/quantities";
import type { Kind, KindName } from "page/ui/quantities";

const most = 2 ** 48;

const refused: [KindName, Fault, string[]][] = [
  ["count", "empty", ["", "  "]],
  ["count", "negative", ["-1", "-.5", "- 3", "−7"]],
  ["count", "fraction", ["1/2", "10 / 3"]],
  ["count", "comma", ["1,00", "1_0000", "1,5", "1,000,00", "1,000_000", "10,5M"]],
  ["count", "blank", ["1 000", "10 M", "1 000 000", "64 MiB"]],
  ["count", "unit", ["10 million", "1Mb", "10m", "5万", "10 %", "3x"]],
  ["count", "whole", ["1.5", "1e-3", "0.5"]],
  ["count", "number", ["ten", "M", "1e", "1.2.3", "0x10", "１００", "NaN", "1+1"]],
  ["count", "small", ["0"]],
  ["count", "large", ["300T", "1e400"]],
  ["bits", "unit", ["10 bits", "64mib"]],
  ["rate", "fraction", ["1/1000"]],
  ["rate", "negative", ["-0.1"]],
  ["rate", "comma", ["0,1", "0,1%"]],
  ["rate", "rateUnit", ["1k", "1 ‰", "5M"]],
  ["rate", "blank", ["0. 1"]],
  ["rate", "number", ["low", "1e", "0.1.2"]],
  ["whole", "whole", ["2.5"]],
  ["whole", "number", ["best"]],
  ["oneIn", "unit", ["1 in ten", "12 apples"].slice(1)],
  ["time", "number", ["2:75", "1e"]],
];

test("each text that is not taken has a fault of its kind", () => {
  for (const [kind, fault, texts] of refused)
    for (const text of texts) assert.equal(faultOf(kinds[kind], text, 1, most), fault, `${kind} ${JSON.stringify(text)}`);
  assert.equal(faultOf(kinds.rate, "0", 1e-15, 0.5), "small");
  assert.equal(faultOf(kinds.rate, "60%", 1e-15, 0.5), "large");
});

test("a text has a fault exactly if it cannot be read or is out of bounds", () => {
  const pieces = ["", "1", "12", "0", ".", ",", "_", "e", "-", "M", "Ki", "B", "%", " ", "/", ":", "in", "万", "x"];
  for (const kind of Object.values(kinds) as Kind[])
    for (const a of pieces)
      for (const b of pieces)
        for (const c of pieces) {
          const text = a + b + c;
          const value = kind.read(text);
          const isTaken = value !== null && value >= 0.1 && value <= 1e9;
          assert.equal(faultOf(kind, text, 0.1, 1e9) === null, isTaken, JSON.stringify(text));
        }
});
