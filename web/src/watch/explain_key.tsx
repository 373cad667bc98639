import { useState } from "preact/hooks";

import { get } from "../api";
import type { Explanation, ExplainedPart } from "../api";
import { count } from "../ui/format";
import { useSettings, useText } from "../ui/settings";

/** Asks why a key is fresh or seen. */
export function ExplainKey({ url }: { url: string }) {
  const { watch: text } = useText();
  const [key, setKey] = useState("");
  const [answer, setAnswer] = useState<Explanation | null>(null);
  const [problem, setProblem] = useState("");
  const ask = async (): Promise<void> => {
    try {
      setAnswer(await get<Explanation>(`${url}/explain?key=${encodeURIComponent(key)}`));
      setProblem("");
    } catch (error) {
      setAnswer(null);
      setProblem((error as Error).message || text.away);
    }
  };
  return (
    <section class="card explain" aria-labelledby="explain">
      <h3 id="explain">{text.explain}</h3>
      <p class="hint">{text.explainText}</p>
      <form
        class="word-form"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <label for="explain-key">{text.explainLabel}</label>
        <div class="joined">
          <input
            id="explain-key"
            value={key}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <button type="submit" disabled={key === ""}>
            {text.explainButton}
          </button>
        </div>
      </form>
      <div role="status">
        {problem && <p class="problem">{problem}</p>}
        {answer && <Answer answer={answer} />}
      </div>
    </section>
  );
}

function Answer({ answer }: { answer: Explanation }) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const parts = answer.segments ?? answer.strings ?? [];
  return (
    <>
      <div class="answer" data-verdict={answer.verdict === "fresh" ? "no" : "maybe"}>
        <p>
          <strong>{text.says[answer.verdict]}</strong> {/* The server speaks English; the bits below say the same. */}
          {language === "en" && answer.reason && `${answer.reason}.`}
        </p>
        {answer.digest && (
          <p class="digest">
            {text.digest} <code>{answer.digest}</code> · {text.inPartition} {answer.partition}
          </p>
        )}
      </div>
      {parts.map((part, i) => (
        <Part key={i} part={part} />
      ))}
    </>
  );
}

function Part({ part }: { part: ExplainedPart }) {
  const { watch: text } = useText();
  const off = part.key_bits.filter((bit) => !bit.set).length;
  const name = part.key ?? text.segment(part.slice ?? 0, part.layer ?? 0);
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
