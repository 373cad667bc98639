import type { PlanAnswer, Structure } from "../api";
import { bytes, chance, count, shortCount } from "../ui/format";
import { useSettings, useText } from "../ui/settings";
import { unknowns } from "./requested_options";
import type { Unknown } from "./requested_options";

/** The answer in large, and all four quantities below it. */
export function PlanPicked({ find, answer }: { find: Unknown; answer: PlanAnswer }) {
  const { plan: text } = useText();
  const { language } = useSettings();
  const picked = answer.structures.find((row) => row.structure === answer.picked);
  const classic = answer.structures.find((row) => row.structure === "classic");
  if (!picked) return null;
  const said: Record<Unknown, string> = {
    keys: shortCount(picked.keys, language),
    bits: bytes(picked.bytes),
    error_rate: chance(picked.error_rate),
    probes: String(picked.probes),
  };
  return (
    <>
      <p class="found">{text.finds[find]}</p>
      <p class="big" data-found={find}>
        {said[find]}
      </p>
      <dl class="four">
        {unknowns.map((name) => (
          <div key={name} class={name === find ? "is-found" : ""}>
            <dt>
              <i>{text.letters[name]}</i>
              <span class="unseen">: {text.finds[name]}</span>
            </dt>
            <dd title={exactly(name, picked)}>{said[name]}</dd>
          </div>
        ))}
      </dl>
      <p class="why">
        <strong>{answer.picked}</strong>
        {text.summary(picked.bits_per_key.toFixed(1), count(picked.bytes * 8))}{" "}
        {classic && whyOf(find, picked, classic, text)}
      </p>
    </>
  );
}

function exactly(name: Unknown, picked: Structure): string | undefined {
  if (name === "bits") return count(picked.bytes * 8);
  return name === "keys" ? count(picked.keys) : undefined;
}

function whyOf(find: Unknown, picked: Structure, classic: Structure, text: ReturnType<typeof useText>["plan"]): string {
  if (find === "probes") return text.whyProbes;
  if (picked === classic) return text.whyClassic;
  const more = text.more(Math.round((picked.bits_per_key / classic.bits_per_key - 1) * 100));
  return text.why(picked.structure, picked.cache_lines, classic.cache_lines, more);
}
