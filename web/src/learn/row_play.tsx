/** The row of bits: add words, ask for words, and see why the answer is what it is. */

import { useRef } from "preact/hooks";

import { probesOf } from "../bloom/row";
import { Quantity } from "../ui/quantity";
import { useSettings, useText } from "../ui/settings";
import { RowBits } from "./row_bits";
import { RowChance } from "./row_chance";
import { RowHashes } from "./row_hashes";
import { useRow } from "./use_row";
import type { RowState } from "./use_row";
import { useRowInView } from "./use_row_in_view";
import { useTypingAnywhere } from "./use_typing_anywhere";
import { Wires } from "./wires";
import { AddForm, AskForm } from "./word_forms";

export function RowPlay() {
  const { learn } = useText();
  const state = useRow();
  useTypingAnywhere("ask-word");
  return (
    <section class="play" aria-label={learn.title}>
      <div class="ask-and-add">
        <AskForm state={state} />
        <AddForm state={state} />
      </div>
      <Stage state={state} />
      <WordSet words={state.row.words} ask={(word) => state.type("ask", word)} />
      <RowQuantities state={state} />
      <div class="chance-and-afterword">
        <RowChance row={state.row} />
        <div class="afterword">
          <p>{learn.row.afterword}</p>
          <p class="hint">{learn.row.setNote}</p>
        </div>
      </div>
    </section>
  );
}

/** Hashes, wires and lamps. */
function Stage({ state: { row, word, mode } }: { state: RowState }) {
  const { language } = useSettings();
  const stage = useRef<HTMLDivElement>(null);
  const probes = word ? probesOf(word, row) : [];
  useRowInView();
  return (
    <div class="stage" ref={stage}>
      <RowHashes word={word} probes={probes} count={row.probes} size={row.size} />
      <RowBits row={row} probes={probes} mode={mode} />
      <Wires stage={stage} probes={probes} redraw={`${word} ${row.size} ${row.probes} ${mode} ${language}`} />
    </div>
  );
}

function RowQuantities({ state: { row, reshape } }: { state: RowState }) {
  const text = useText().learn.row;
  return (
    <div class="row-quantities">
      <Quantity label={text.size} kind="whole" value={row.size} min={4} max={64} onInput={(size) => reshape({ size })} />
      <Quantity label={text.probes} kind="whole" value={row.probes} min={1} max={6} onInput={(probes) => reshape({ probes })} />
    </div>
  );
}

/** The words that were added; pressing one asks for it. */
function WordSet({ words, ask }: { words: readonly string[]; ask: (word: string) => void }) {
  const text = useText().learn.row;
  return (
    <div class="set">
      <h2>{text.set}</h2>
      {words.length === 0 && <span class="hint">{text.setEmpty}</span>}
      <ul class="words" aria-label={text.set}>
        {words.map((word) => (
          <li key={word}>
            <button type="button" title={text.askFor(word)} onClick={() => ask(word)}>
              {word}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
