import type { Probe } from "../bloom/row";
import { hex32 } from "../ui/format";
import { useText } from "../ui/settings";
import { columnsOf } from "./columns";

interface RowHashesProps {
  word: string;
  probes: readonly Probe[];
  size: number;
}

/** A card a probe: which hash, its value, and the position that is left of it. */
export function RowHashes({ word, probes, size }: RowHashesProps) {
  const { learn } = useText();
  const text = learn.row;
  if (!word) return <p class="hashes idle">{text.hashesIdle}</p>;
  const name = (probe: Probe, i: number): string =>
    probe.steps === undefined ? (i === 0 ? "FNV-1a" : "Murmur3") : text.sum(probe.steps);
  return (
    <ul
      class="hashes"
      aria-label={text.hashesLabel(word)}
      style={{ "--wide": columnsOf(probes.length, 6), "--narrow": columnsOf(probes.length, 2) }}
    >
      {probes.map((probe, i) => (
        <li key={i} class="hash" data-probe={i}>
          <b>{name(probe, i)}</b>
          <code>{hex32(probe.hash)}</code>
          <span>{text.picks(size, probe.position)}</span>
        </li>
      ))}
    </ul>
  );
}
