import type { PlanAnswer, Structure } from "../api";
import { bytes, chance, shortCount } from "../ui/format";
import { useSettings, useText } from "../ui/settings";
import type { Unknown } from "./requested_options";

/**
 * Every structure side by side: its memory, or, where the keys are to be found, how many it holds. The bars are on one
 * scale, which ends at the larger of choice and hash set, since a bitmap may be far beyond both.
 */
export function PlanTable({ find, answer }: { find: Unknown; answer: PlanAnswer }) {
  const { plan: text } = useText();
  const { language } = useSettings();
  const [name, amountOf, say] =
    find === "keys"
      ? [text.quantities.keys, (row: Structure) => row.keys, (n: number) => shortCount(n, language)]
      : [text.memory, (row: Structure) => row.bytes, bytes];
  const picked = answer.structures.find((row) => row.structure === answer.picked);
  const ofScale = answer.structures.filter((row) => find === "keys" || row === picked || row.structure === "hash set");
  const most = Math.max(...ofScale.map(amountOf));
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={text.compare}>
      <table class="costs plan-table">
        <thead>
          <tr>
            <th scope="col">{text.structure}</th>
            <th scope="col">{name}</th>
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
                <span>{say(amountOf(row))}</span>
                <i
                  aria-hidden="true"
                  class={amountOf(row) > most ? "beyond" : ""}
                  style={{ "--share": `${Math.min(100, (amountOf(row) / most) * 100)}%` }}
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
