import { witnesses } from "../bloom/row";
import type { Row } from "../bloom/row";
import { useText } from "../ui/settings";
import { positionsOf } from "./use_row";

/**
 * What the row says of a word, and which bits said so; for certain, since the page knows the set.
 * @param idle  what is said without a word
 * @param note  what is said besides, or instead of `idle`
 */
export function RowAnswer({ word, row, idle, note }: { word: string; row: Row; idle: string; note: string }) {
  return (
    <div class="answer" role="status" data-verdict={verdictOf(word, row)}>
      {word !== "" && <Verdict word={word} row={row} />}
      {(word === "" || note) && <p class="hint">{note || idle}</p>}
    </div>
  );
}

function verdictOf(word: string, row: Row): string {
  if (word === "") return "none";
  return witnesses(word, row).length > 0 ? "no" : "maybe";
}

function Verdict({ word, row }: { word: string; row: Row }) {
  const { learn } = useText();
  const text = learn.row;
  const off = witnesses(word, row).sort((a, b) => a - b);
  const sentence = (bits: string): string => bits.charAt(0).toUpperCase() + bits.slice(1);
  if (off.length > 0)
    return (
      <p>
        <strong>{text.no}</strong> {text.noWhy(word, sentence(text.bits(off)))}
      </p>
    );
  const why = row.words.includes(word) ? text.maybeTrue : text.maybeFalse;
  return (
    <p>
      <strong>{text.maybe}</strong> {why(word, sentence(text.bits(positionsOf(word, row))))}
    </p>
  );
}
