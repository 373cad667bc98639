import type { Probe } from "../bloom/row";
import { hex32 } from "../ui/format";
import { useText } from "../ui/settings";
import { columnsOf } from "./columns";

interface RowHashesProps {
  word: string;
  /** Of the word; none without a word. */
  probes: readonly Probe[];
  /** How many probes a word has. */
  count: number;
  size: number;
}

/** A card a probe: which hash, its value, and the position that is left of it. Without a word, the cards wait for one. */
export function RowHashes({ word, probes, count, size }: RowHashesProps) {
  const { learn } = useText();
  const text = learn.row;
  const name = (i: number): string => (i < 2 ? ["FNV-1a", "Murmur3"][i] : text.sum(i - 1));
  return (
    <ul
      class={word ? "hashes" : "hashes idle"}
      aria-label={word ? text.hashesLabel(word) : text.hashesIdle}
      style={{ "--wide": columnsOf(count, 6), "--narrow": columnsOf(count, 2) }}
    >
      {Array.from({ length: count }, (_, i) => (
        <li key={i} class="hash" data-probe={i}>
          <b>{name(i)}</b>
          <code>{word ? hex32(probes[i].hash) : text.noHash}</code>
          <span>{text.picks(size, word ? String(probes[i].position) : "?")}</span>
        </li>
      ))}
    </ul>
  );
}
