import type { PlanAnswer, Structure } from "../api";
import { bytes, chance } from "../ui/format";
import { useText } from "../ui/settings";

/** What is chosen, in a few words. */
export function PlanPicked({ answer }: { answer: PlanAnswer }) {
  const { plan: text } = useText();
  const picked = answer.structures.find((row) => row.structure === answer.picked);
  const classic = answer.structures.find((row) => row.structure === "classic");
  if (!picked) return null;
  return (
    <>
      <p class="big" data-bytes={picked.bytes}>
        {bytes(picked.bytes)}
      </p>
      <p>
        <strong>{answer.picked}</strong>
        {text.summary(picked.bits_per_key.toFixed(1), chance(picked.error_rate))}{" "}
        <span class="why">{classic && whyOf(picked, classic, text)}</span>
      </p>
    </>
  );
}

/** Every structure side by side; the bars are on one scale, which ends at the larger of choice and hash set. */
export function PlanTable({ answer }: { answer: PlanAnswer }) {
  const { plan: text } = useText();
  const picked = answer.structures.find((row) => row.structure === answer.picked);
  const ofScale = answer.structures.filter((row) => row === picked || row.structure === "hash set");
  const most = Math.max(...ofScale.map((row) => row.bytes));
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={text.memory}>
      <table class="costs plan-table">
        <thead>
          <tr>
            <th scope="col">{text.structure}</th>
            <th scope="col">{text.memory}</th>
            <th scope="col">{text.bitsAKey}</th>
            <th scope="col">{text.probesShort}</th>
            <th scope="col">{text.lines}</th>
            <th scope="col">{text.errorRate}</th>
          </tr>
        </thead>
        <tbody>
          {answer.structures.map((row) => (
            <tr key={row.structure} class={row === picked ? "picked" : ""} data-structure={row.structure}>
              <th scope="row">
                {text.names[row.structure] ?? row.structure}
                {row === picked && <em>{text.choice}</em>}
              </th>
              <td>
                <span>{bytes(row.bytes)}</span>
                <i
                  aria-hidden="true"
                  class={row.bytes > most ? "beyond" : ""}
                  style={{ "--share": `${Math.min(100, (row.bytes / most) * 100)}%` }}
                />
              </td>
              <td>{short(row.bits_per_key)}</td>
              <td>{row.probes}</td>
              <td>{row.cache_lines}</td>
              <td>{chance(row.error_rate)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function short(bits: number): string {
  return bits < 1000 ? bits.toFixed(1) : Math.round(bits).toLocaleString("en-US");
}

function whyOf(picked: Structure, classic: Structure, text: ReturnType<typeof useText>["plan"]): string {
  if (picked === classic) return text.whyClassic;
  const more = text.more(Math.round((picked.bytes / classic.bytes - 1) * 100));
  return text.why(picked.structure, picked.cache_lines, classic.cache_lines, more);
}
