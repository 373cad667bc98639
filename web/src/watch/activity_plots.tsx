import { Plot } from "../ui/plot";
import type { Curve } from "../ui/plot";
import { shortCount } from "../ui/format";
import { useSettings, useText } from "../ui/settings";
import { historySeconds } from "./use_watch";
import type { Sample } from "./use_watch";

const kinds = ["fresh", "seen", "late", "unknown"] as const;
const colors = { fresh: "--no", seen: "--lamp-line", late: "--third", unknown: "--bad" };

/** What a counter gained a second, between each sample and the one before. */
function gains(samples: readonly Sample[], counter: (sample: Sample) => number): number[] {
  return samples.slice(1).map((sample, i) => {
    const before = samples[i];
    return Math.max(0, (counter(sample) - counter(before)) / (sample.at - before.at));
  });
}

/** Keys and verdicts a second, over the last two minutes. */
export function ActivityPlots({ samples }: { samples: readonly Sample[] }) {
  const { watch: text } = useText();
  const last = samples[samples.length - 1]?.at ?? 0;
  const x = samples.slice(1).map((sample) => sample.at - last);
  const keys: Curve[] = [
    { label: text.adds, color: "--second", values: gains(samples, (sample) => sample.adds) },
    { label: text.checks, color: "--first", values: gains(samples, (sample) => sample.checks) },
  ];
  const verdicts = kinds
    .map((kind): Curve => ({
      label: text.verdicts[kind],
      color: colors[kind],
      values: gains(samples, (sample) => sample.verdicts[kind]),
    }))
    // The two that a filter without trouble never has are shown when they come.
    .filter((curve, i) => i < 2 || curve.values.some((value) => value));
  return (
    <div class="activity">
      <RatePlot title={text.addsPlot} x={x} curves={keys} />
      <RatePlot title={text.verdictsPlot} x={x} curves={verdicts} />
    </div>
  );
}

function RatePlot({ title, x, curves }: { title: string; x: readonly number[]; curves: readonly Curve[] }) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const short = (value: number): string => shortCount(value, language);
  const now = curves.map((curve) => `${short(curve.values[curve.values.length - 1] ?? 0)} ${curve.label}`).join(", ");
  const most = Math.max(10, ...curves.flatMap((curve) => curve.values.map((value) => value ?? 0)));
  return (
    <section class="card" aria-label={title}>
      <h3>{title}</h3>
      <p class="hint">{now}</p>
      <Plot
        label={text.plotLabel(title, now)}
        x={x}
        curves={curves}
        xAxis={{ range: [-spanOf(x), 0], format: (at) => text.ago(-at) }}
        yAxis={{ range: [0, niceAbove(most)], format: short }}
        height={180}
        legend
      />
    </section>
  );
}

/** What is shown of the past: a quarter of it while there is no more. */
function spanOf(x: readonly number[]): number {
  const oldest = -(x[0] ?? 0);
  return [historySeconds / 4, historySeconds / 2].find((span) => oldest <= span) ?? historySeconds;
}

/** 1, 2 or 5 times a power of ten, so that the plot is not made anew at every sample. */
function niceAbove(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((value) => value >= most * 1.02) ?? 20 * unit;
}
