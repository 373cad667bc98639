import { useMemo, useState } from "preact/hooks";

import { bitsPerWord, lineBitsOf, LineFilter, wordsPerLine } from "../bloom/line";
import type { LineBits } from "../bloom/line";
import { siphash128 } from "../bloom/siphash";
import { sampleWords } from "../text/words";
import { chance, hex64 } from "../ui/format";
import { useSettings, useText } from "../ui/settings";
import { WordForm } from "../ui/word_form";
import { Chapter } from "./chapter";

const lines = 4;

interface GridProps {
  filter: LineFilter;
  shown: LineBits;
}

/** The chosen line, lowest bit of each word on the left; the eight bits of the word that is asked are ringed. */
function LineGrid({ filter, shown }: GridProps) {
  const { learn } = useText();
  const { line, bits } = shown;
  return (
    <div class="line-grid" role="img" aria-label={learn.line.gridLabel(line, filter.onIn(line))}>
      {Array.from({ length: wordsPerLine }, (_, word) => (
        <div key={word} class="line-word">
          <b>{word}</b>
          {Array.from({ length: bitsPerWord }, (_, bit) => (
            <i key={bit} class={`${filter.isOn(line, word, bit) ? "on" : ""} ${bits[word] === bit ? "probed" : ""}`} />
          ))}
          <code>{bits[word]}</code>
        </div>
      ))}
    </div>
  );
}

function LineChoice({ filter, line }: { filter: LineFilter; line: number }) {
  const { learn } = useText();
  return (
    <ol class="line-choice" aria-label={learn.line.chosen(line)}>
      {Array.from({ length: lines }, (_, i) => (
        <li key={i} class={i === line ? "chosen" : ""} aria-current={i === line ? "true" : undefined}>
          <span class="unseen">{learn.line.lineShort(i, filter.onIn(i))}</span>
          <i aria-hidden="true" style={{ "--share": `${(filter.onIn(i) / 512) * 100}%` }} />
        </li>
      ))}
    </ol>
  );
}

export function LineChapter() {
  const { learn } = useText();
  const { language } = useSettings();
  const text = learn.line;
  const [typed, setTyped] = useState("everseen");
  const [words, setWords] = useState<readonly string[]>([]);
  const filter = useMemo(() => new LineFilter(lines, words.map((word) => siphash128(word))), [words]);
  const digest = siphash128(typed);
  const shown = lineBitsOf(digest, lines);
  const off = shown.bits.filter((bit, word) => !filter.isOn(shown.line, word, bit)).length;
  const addAll = (more: readonly string[]): void => setWords([...new Set([...words, ...more])]);
  const nextSamples = (): string[] => {
    const samples = sampleWords[language].filter((word) => !words.includes(word)).slice(0, 50);
    const numbered = Array.from({ length: 50 - samples.length }, (_, i) => `word ${words.length + i}`);
    return [...samples, ...numbered];
  };
  return (
    <Chapter name="line" title={text.title} text={text.text}>
      <WordForm
        id="line-word"
        label={text.addLabel}
        button={text.addButton}
        value={typed}
        onInput={setTyped}
        submit={() => typed && addAll([typed])}
        maxLength={64}
      >
        <div class="small-buttons">
          <button type="button" class="quiet" onClick={() => addAll(nextSamples())}>
            {text.fifty}
          </button>
          <button type="button" class="quiet" disabled={words.length === 0} onClick={() => setWords([])}>
            {text.empty}
          </button>
        </div>
      </WordForm>
      <p class="digest">
        {text.digest} <code data-digest>{hex64(digest.high)}</code> <code>{hex64(digest.low)}</code>
      </p>
      <LineChoice filter={filter} line={shown.line} />
      <LineGrid filter={filter} shown={shown} />
      <div class="answer" role="status" data-verdict={off > 0 ? "no" : "maybe"}>
        <p>
          <strong>{off > 0 ? text.verdictFresh(off) : text.verdictSeen}</strong>{" "}
          {text.status(words.length, chance(filter.chanceNow()))}
        </p>
      </div>
      <p class="hint">{text.seed}</p>
    </Chapter>
  );
}
