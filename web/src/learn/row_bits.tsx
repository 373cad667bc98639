import { bitsOf, wordsOn } from "../bloom/row";
import type { Probe, Row } from "../bloom/row";
import { useText } from "../ui/settings";
import { columnsOf } from "./columns";
import type { Mode } from "./use_row";

interface RowBitsProps {
  row: Row;
  probes: readonly Probe[];
  mode: Mode;
}

/**
 * The lamps. A probed one shows whether it is on, or, of a word that is typed to be added, would go on. Each can tell
 * which words switched it on: the page knows, though the filter does not.
 */
export function RowBits({ row, probes, mode }: RowBitsProps) {
  const { learn } = useText();
  const text = learn.row;
  const bits = bitsOf(row);
  const on = bits.filter(Boolean).length;
  const probed = new Set(probes.map((probe) => probe.position));
  return (
    <ol class="bits" aria-label={text.rowLabel(on, bits.length)} style={{ "--wide": columnsOf(bits.length, 16), "--narrow": columnsOf(bits.length, 8) }}>
      {bits.map((lit, index) => {
        const said = text.bit(index, wordsOn(index, row));
        const names = ["bit"];
        if (lit) names.push("on");
        if (probed.has(index)) names.push("probed", mode === "ask" ? (lit ? "says-maybe" : "says-no") : "to-add");
        return (
          <li key={index} class={names.join(" ")} data-bit={index} data-on={lit} title={said}>
            <i aria-hidden="true" />
            <span aria-hidden="true">{index}</span>
            <span class="unseen">{said}</span>
          </li>
        );
      })}
    </ol>
  );
}
