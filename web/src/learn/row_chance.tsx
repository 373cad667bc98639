import { bitsOf, chanceNow, expectedChance } from "../bloom/row";
import type { Row } from "../bloom/row";
import { chance } from "../ui/format";
import { Plot } from "../ui/plot";
import { useText } from "../ui/settings";

/** How often the row would be wrong now, and how that is to go on. */
export function RowChance({ row }: { row: Row }) {
  const { learn } = useText();
  const text = learn.row;
  const on = bitsOf(row).filter(Boolean).length;
  const now = chanceNow(row);
  const most = Math.max(row.size, row.words.length + 2);
  const x = Array.from({ length: 81 }, (_, i) => (i * most) / 80);
  const expected = x.map((words) => expectedChance(row, words));
  return (
    <div class="chance">
      <h2>{text.chance}</h2>
      <p class="big" data-chance={now}>
        {chance(now)}
      </p>
      <p class="hint">{text.chanceWhy(on, row.size, row.probes)}</p>
      <Plot
        label={text.curveLabel(row.words.length, chance(now))}
        x={x}
        curves={[{ label: text.chance, color: "--lamp-line", values: expected, fill: true }]}
        xAxis={{ label: text.words, range: [0, most] }}
        yAxis={{ range: [0, 1], format: (value) => `${Math.round(value * 100)} %` }}
        dot={{ x: row.words.length, y: now }}
        height={190}
      />
      <p class="hint">{text.curve}</p>
    </div>
  );
}
