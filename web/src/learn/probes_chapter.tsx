import { useState } from "preact/hooks";

import { murmur3 } from "../bloom/hashes";
import { classicRate } from "../bloom/rates";
import { chance } from "../ui/format";
import { Plot } from "../ui/plot";
import { Quantity } from "../ui/quantity";
import { useText } from "../ui/settings";
import { Chapter } from "./chapter";

const most = 24;
const counts = Array.from({ length: most }, (_, i) => i + 1);

/** A fixed order in which 256 lamps go on, without a pattern, so that they don't flicker while a slider moves. */
const order = Array.from({ length: 256 }, (_, i) => i)
  .sort((a, b) => murmur3(`lamp ${a}`) - murmur3(`lamp ${b}`))
  .map((_, i, sorted) => sorted.indexOf(i) + 1);

function best(bits: number): number {
  return counts.reduce((a, b) => (classicRate(b, bits) < classicRate(a, bits) ? b : a));
}

export function ProbesChapter() {
  const { learn } = useText();
  const text = learn.probes;
  const [bits, setBits] = useState(10);
  const [probes, setProbes] = useState(2);
  const share = -Math.expm1(-probes / bits);
  const rate = classicRate(probes, bits);
  const optimum = best(bits);
  const rates = counts.map((k) => classicRate(k, bits));
  const lowest = 10 ** Math.floor(Math.log10(Math.min(...rates)));
  return (
    <Chapter name="probes" title={text.title} text={text.text}>
      <div class="quantities">
        <Quantity label={text.bits} kind="whole" value={bits} min={2} max={32} onInput={setBits} />
        <Quantity label={text.probes} kind="whole" value={probes} min={1} max={most} onInput={setProbes} />
      </div>
      <div class="facts" role="status">
        <p>
          <b data-fact="rate">{chance(rate)}</b> {text.rate}
        </p>
        <p>
          {probes === optimum ? text.isBest(optimum) : text.best(optimum, chance(classicRate(optimum, bits)))}{" "}
          {probes !== optimum && (
            <button type="button" class="quiet" onClick={() => setProbes(optimum)}>
              {text.useBest}
            </button>
          )}
        </p>
      </div>
      <div class="two">
        <div>
          <div class="field" role="img" aria-label={text.gridLabel(chance(share))}>
            {order.map((rank, i) => (
              <i key={i} class={rank <= share * 256 ? "on" : ""} />
            ))}
          </div>
          <p class="hint">{text.share(chance(share))}</p>
        </div>
        <Plot
          label={`${text.best(optimum, chance(classicRate(optimum, bits)))} ${probes}: ${chance(rate)}`}
          x={counts}
          curves={[{ label: text.rate, color: "--lamp-line", values: rates }]}
          xAxis={{ label: text.probesAxis, range: [0, most + 1] }}
          yAxis={{ log: true, range: [lowest, 1] }}
          dot={{ x: probes, y: rate }}
          height={230}
        />
      </div>
    </Chapter>
  );
}
