import type { PlanAnswer, Structure } from "../api";
import { layouts } from "../bloom/rates";
import { chance, shortCount } from "../ui/format";
import { Plot } from "../ui/plot";
import type { Curve } from "../ui/plot";
import { useSettings, useText } from "../ui/settings";

const colors: Record<string, string> = {
  classic: "--muted",
  "line-8x64": "--lamp-line",
  "line-16x32": "--first",
  "two-line-8x64": "--second",
  "two-line-16x32": "--no",
};

/** What cannot be drawn on a log scale is left out. */
const least = 1e-15;

function curveOf(structure: Structure, x: readonly number[], picked: boolean): Curve {
  const at = new Map(structure.curve.map((point) => [point.keys, point.error_rate]));
  const values = x.map((keys) => {
    const rate = at.get(keys);
    return rate === undefined || rate < least ? null : rate;
  });
  return { label: structure.structure, color: colors[structure.structure], values, width: picked ? 3 : 1.5 };
}

/** The rate of every layout while keys come. */
export function PlanCurve({ answer }: { answer: PlanAnswer }) {
  const { plan: text } = useText();
  const { language } = useSettings();
  const shown = answer.structures.filter((row) => (layouts as readonly string[]).includes(row.structure));
  const picked = shown.find((row) => row.structure === answer.picked);
  const x = [...new Set(shown.flatMap((row) => row.curve.map((point) => point.keys)))].sort((a, b) => a - b);
  if (!picked || x.length === 0) return null;
  const floor = Math.max(least, 10 ** Math.floor(Math.log10(picked.error_rate) - 5));
  return (
    <Plot
      label={text.curveLabel(picked.structure, shortCount(picked.keys, language), chance(picked.error_rate))}
      x={x}
      curves={shown.map((row) => curveOf(row, x, row === picked))}
      xAxis={{ label: text.keysAxis, range: [0, x[x.length - 1]], format: (keys) => shortCount(keys, language) }}
      yAxis={{ log: true, range: [floor, 1] }}
      dot={{ x: picked.keys, y: picked.error_rate }}
      height={280}
      legend
    />
  );
}
