/** The row of bits: add words, ask for words, and see why the answer is what it is. */

import { useRef, useState } from "preact/hooks";

import { add, bitsOf, probesOf, witnesses } from "../bloom/row";
import type { Row } from "../bloom/row";
import { sampleWords } from "../text/words";
import { useSettings, useText } from "../ui/settings";
import { Slider } from "../ui/slider";
import { RowAnswer } from "./row_answer";
import { RowBits } from "./row_bits";
import { RowChance } from "./row_chance";
import { RowHashes } from "./row_hashes";
import { Wires } from "./wires";

export type Mode = "add" | "ask";

export function RowPlay() {
  const { learn } = useText();
  const { language } = useSettings();
  const text = learn.row;
  const [row, setRow] = useState<Row>({ size: 15, probes: 2, words: [] });
  const [typed, setTyped] = useState({ add: "", ask: "" });
  const [mode, setMode] = useState<Mode>("add");
  // What the row shows while nothing is typed: the word that was just added.
  const [lastAdded, setLastAdded] = useState("");
  const [news, setNews] = useState("");
  const stage = useRef<HTMLDivElement>(null);

  const word = typed[mode] || (mode === "add" ? lastAdded : "");
  const bits = bitsOf(row);
  const probes = word ? probesOf(word, row) : [];

  const type = (where: Mode, value: string): void => {
    setMode(where);
    setTyped({ ...typed, [where]: value });
    setLastAdded("");
    setNews("");
  };
  const addWord = (chosen: string): void => {
    if (!chosen) return;
    const known = row.words.includes(chosen);
    const positions = [...new Set(probesOf(chosen, row).map((probe) => probe.position))].sort((a, b) => a - b);
    setRow(add(row, chosen));
    setMode("add");
    setTyped({ ...typed, add: "" });
    setLastAdded(chosen);
    setNews(known ? text.already(chosen) : text.added(chosen, text.bits(positions)));
  };
  const addAny = (): void => {
    const left = sampleWords[language].filter((sample) => !row.words.includes(sample));
    addWord(left[Math.floor(Math.random() * left.length)] ?? "");
  };
  const fool = (): void => {
    const all = [...sampleWords[language], ...sampleWords[language === "en" ? "zh" : "en"]];
    const fooling = all.find((sample) => !row.words.includes(sample) && witnesses(sample, row).length === 0);
    if (fooling) type("ask", fooling);
    else setNews(text.fooledNot);
  };
  const empty = (): void => {
    setRow({ ...row, words: [] });
    setLastAdded("");
    setNews(text.emptied);
  };
  const preview = typed.add
    ? row.words.includes(typed.add)
      ? text.already(typed.add)
      : text.addPreview(typed.add, witnesses(typed.add, row).length)
    : text.addIdle;

  return (
    <section class="play" aria-label={learn.title}>
      <div class="ask-and-add">
        <form
          class="word-form"
          onSubmit={(event) => {
            event.preventDefault();
            addWord(typed.add);
          }}
        >
          <label for="add-word">{text.addLabel}</label>
          <div class="joined">
            <input
              id="add-word"
              value={typed.add}
              placeholder={text.addPlaceholder}
              autocomplete="off"
              spellcheck={false}
              maxLength={64}
              onInput={(event) => type("add", event.currentTarget.value)}
              onFocus={() => setMode("add")}
            />
            <button type="submit">{text.addButton}</button>
          </div>
          <p class="hint" role="status">
            {news || preview}
          </p>
          <div class="small-buttons">
            <button type="button" class="quiet" onClick={addAny}>
              {text.random}
            </button>
            <button type="button" class="quiet" onClick={empty} disabled={row.words.length === 0}>
              {text.empty}
            </button>
          </div>
        </form>
        <div class="word-form">
          <label for="ask-word">{text.askLabel}</label>
          <input
            id="ask-word"
            value={typed.ask}
            placeholder={text.askPlaceholder}
            autocomplete="off"
            spellcheck={false}
            maxLength={64}
            onInput={(event) => type("ask", event.currentTarget.value)}
            onFocus={() => setMode("ask")}
          />
          <RowAnswer word={typed.ask} row={row} />
          <div class="small-buttons">
            <button type="button" class="quiet" onClick={fool} disabled={row.words.length === 0}>
              {text.fool}
            </button>
          </div>
        </div>
      </div>

      <div class="stage" ref={stage}>
        <RowHashes word={word} probes={probes} size={row.size} />
        <RowBits bits={bits} probes={probes} mode={mode} />
        <Wires stage={stage} probes={probes} redraw={`${word} ${row.size} ${row.probes} ${mode} ${language}`} />
      </div>

      <div class="row-sliders">
        <Slider
          label={text.size}
          value={row.size}
          min={4}
          max={64}
          step={1}
          format={String}
          onInput={(size) => setRow({ ...row, size })}
        />
        <Slider
          label={text.probes}
          value={row.probes}
          min={1}
          max={6}
          step={1}
          format={String}
          onInput={(count) => setRow({ ...row, probes: count })}
        />
      </div>

      <div class="set-and-chance">
        <div class="set">
          <h2>{text.set}</h2>
          {row.words.length === 0 && <p class="hint">{text.setEmpty}</p>}
          <ul class="words" aria-label={text.set}>
            {row.words.map((entry) => (
              <li key={entry}>{entry}</li>
            ))}
          </ul>
          <p class="hint">{text.setNote}</p>
        </div>
        <RowChance row={row} />
      </div>
      <p class="afterword">{text.afterword}</p>
    </section>
  );
}
