import { useState } from "preact/hooks";

import { Away, explain } from "../api";
import type { Explanation, ExplainedPart, FilterInfo } from "../api";
import { count, sentence, timeOfDay } from "../ui/format";
import { Problem } from "../ui/problem";
import { useSettings, useText } from "../ui/settings";
import { WordForm } from "../ui/word_form";

/** When the slices of a filter begin; none of one that has no window. */
function beginnings(info: FilterInfo | null): Map<number, number> {
  const begins = new Map<number, number>();
  for (const partition of info?.partition_list ?? [])
    for (const { slice, begins_ms } of partition.slices) if (begins_ms !== null) begins.set(slice, begins_ms);
  return begins;
}

/** Asks why a key is fresh or seen. */
export function ExplainKey({ url, info }: { url: string; info: FilterInfo | null }) {
  const { watch: text } = useText();
  const [key, setKey] = useState("");
  const [answer, setAnswer] = useState<Explanation | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const ask = async (): Promise<void> => {
    try {
      setAnswer(await explain(url, key));
      setProblem(null);
    } catch (error) {
      setAnswer(null);
      setProblem(error as Error);
    }
  };
  return (
    <section class="card explain" aria-labelledby="explain">
      <h3 id="explain">{text.explain}</h3>
      <p class="hint">{text.explainText}</p>
      <WordForm
        id="explain-key"
        label={text.explainLabel}
        button={text.explainButton}
        value={key}
        onInput={setKey}
        submit={() => void ask()}
        disabled={key === ""}
      />
      <div role="status">
        {problem instanceof Away && <p class="problem">{text.away}</p>}
        {problem && !(problem instanceof Away) && <Problem words={text.notExplained} detail={problem.message} />}
        {answer && <Answer answer={answer} begins={beginnings(info)} />}
      </div>
    </section>
  );
}

function Answer({ answer, begins }: { answer: Explanation; begins: ReadonlyMap<number, number> }) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const parts = answer.segments ?? answer.strings;
  return (
    <>
      <div class="answer" data-verdict={answer.verdict === "fresh" ? "no" : "maybe"}>
        <p>
          <strong>{text.says[answer.verdict]}</strong> {/* The server speaks English; the bits below say the same. */}
          {language === "en" && answer.reason && sentence(answer.reason)}
        </p>
        {answer.digest && (
          <p class="digest">
            {text.digest} <code>{answer.digest}</code> · {text.inPartition} {answer.partition}
          </p>
        )}
      </div>
      {parts === undefined && <p class="hint">{text.bitsAreHidden}</p>}
      {parts?.map((part, i) => (
        <Part key={i} part={part} begins={begins.get(part.slice ?? 0)} />
      ))}
    </>
  );
}

/** A segment, or a string of another program's filter, and the key's bits in it. */
function Part({ part, begins }: { part: ExplainedPart; begins?: number }) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const off = part.key_bits.filter((bit) => !bit.set).length;
  const slice = begins === undefined ? [] : [text.slice(timeOfDay(begins, language))];
  const name = part.key ?? [...slice, text.layerOf(part.layer ?? 0)].join(" · ");
  return (
    <div class="explained">
      <p>
        <b>{name}</b> <span class="hint">{off === 0 ? text.holds : text.holdsNot(off)}</span>
      </p>
      <ul>
        {part.key_bits.map((bit, i) => (
          <li key={i} class={bit.set ? "on" : ""}>
            <i aria-hidden="true" />
            <span aria-hidden="true">{count(bit.position)}</span>
            <span class="unseen">{text.bit(count(bit.position), bit.set)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
