import type { Filter, FilterFigures } from "../api";
import { bytes, chance, count, percent, scientific } from "../ui/format";
import { Problem } from "../ui/problem";
import { useText } from "../ui/settings";
import { ActivityPlots } from "./activity_plots";
import { ExplainKey } from "./explain_key";
import { InstanceMap } from "./instance_map";
import { RateScale } from "./rate_scale";
import { SegmentBars } from "./segment_bars";
import type { Shown } from "./shown_filter";
import type { Sample } from "./use_watch";

interface FilterViewProps {
  shown: Shown;
  now: FilterFigures;
  samples: readonly Sample[];
}

/** One filter: its figures, what it does each second, what it is made of, and why a key is seen. */
export function FilterView({ shown: { info, listed, problem }, now, samples }: FilterViewProps) {
  const { watch: text } = useText();
  const described = info ?? listed;
  return (
    <article class="filter" aria-labelledby="filter-name">
      <div class="card">
        <h2 id="filter-name">{now.name}</h2>
        {described && <p class="hint">{describe(described, text)}</p>}
        {problem && <Problem words={text.notNow} detail={problem} />}
        <Figures now={now} wrong={info?.expected_false_seen} />
        <RateScale now={now.error_rate_now} promised={now.error_rate} />
      </div>
      <ActivityPlots samples={samples} />
      {info && (
        <div class="card">
          <SegmentBars partitions={info.partition_list} />
          <InstanceMap instances={info.instances} partitions={info.partition_list} />
        </div>
      )}
      <ExplainKey url={now.url} info={info} />
    </article>
  );
}

function describe(filter: Filter, text: ReturnType<typeof useText>["watch"]): string {
  const parts = [text.made(filter.layout, filter.hash, text.growths[filter.growth])];
  if (filter.window_ms !== null) parts.push(text.window(duration(filter.window_ms), filter.window_slices ?? 1));
  if (filter.attached) parts.push(text.attached);
  return parts.join("; ");
}

function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds % 86400 === 0) return `${seconds / 86400} d`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** An expected number of keys, however small. */
function expectation(n: number): string {
  if (n >= 100) return count(n);
  return n >= 0.01 ? n.toFixed(2) : n > 0 ? scientific(n) : "0";
}

function Figures({ now, wrong }: { now: FilterFigures; wrong?: number }) {
  const { watch: text } = useText();
  const figures: [string, string, string?][] = [
    [text.keys, count(now.keys), text.madeFor(count(now.capacity))],
    [text.fill, percent(now.fill)],
    [text.rateNow, chance(now.error_rate_now), `${text.promised} ${chance(now.error_rate)}`],
    [text.memoryOf, bytes(now.bytes)],
    [text.layers, count(now.layers)],
    [text.slices, count(now.slices)],
    [text.partitions, count(now.partitions)],
  ];
  if (wrong !== undefined) figures.push([text.expected, expectation(wrong), text.expectedWhy]);
  return (
    <dl class="filter-figures">
      {figures.map(([name, value, note]) => (
        <div key={name} data-figure={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note && <dd class="hint">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
