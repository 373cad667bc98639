import { useState } from "preact/hooks";

import { bitsPerKey, chosenLayout, hashSetBitsPerKey, layouts, linesTouched } from "../bloom/rates";
import { Quantity } from "../ui/quantity";
import { useText } from "../ui/settings";
import { Chapter } from "./chapter";

interface Row {
  name: string;
  bits: number;
  lines: number;
  picked: boolean;
}

function rowsAt(rate: number, hashSet: string): Row[] {
  const picked = chosenLayout(rate);
  const rows = layouts.map((layout) => ({
    name: layout as string,
    bits: bitsPerKey(layout, rate),
    lines: linesTouched(layout, rate),
    picked: layout === picked,
  }));
  return [...rows, { name: hashSet, bits: hashSetBitsPerKey, lines: 1, picked: false }];
}

function Lines({ count }: { count: number }) {
  return (
    <span class="cache-lines" aria-hidden="true">
      {Array.from({ length: count }, (_, i) => (
        <i key={i} />
      ))}
    </span>
  );
}

/** What each layout costs at a rate: bits, and lines fetched from memory. */
export function CostChapter() {
  const { learn } = useText();
  const text = learn.cost;
  const [oneIn, setOneIn] = useState(100);
  const rate = 1 / oneIn;
  const rows = rowsAt(rate, text.hashSet);
  const scale = Math.max(96, ...rows.filter((row) => row.picked).map((row) => row.bits));
  return (
    <Chapter name="cost" title={text.title} text={text.text}>
      <div class="quantities">
        <Quantity label={text.rate} kind="oneIn" value={oneIn} min={10} max={1e10} onInput={setOneIn} />
      </div>
      <table class="costs">
        <thead>
          <tr>
            <th scope="col">{text.layout}</th>
            <th scope="col">{text.bits}</th>
            <th scope="col">{text.lines}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name} class={row.picked ? "picked" : ""} data-layout={row.name}>
              <th scope="row">
                {row.name}
                {row.picked && <em>{text.picked}</em>}
              </th>
              <td>
                <i aria-hidden="true" style={{ "--share": `${Math.min(100, (row.bits / scale) * 100)}%` }} />
                <span>{row.bits.toFixed(1)}</span>
              </td>
              <td>
                <span>{row.lines}</span>
                <Lines count={row.lines} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">{text.note}</p>
    </Chapter>
  );
}
