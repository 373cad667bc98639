import type { PartitionInfo } from "../api";
import { bytes, shortCount, timeOfDay } from "../ui/format";
import { useSettings, useText } from "../ui/settings";

interface LayerSum {
  keys: number;
  capacity: number;
  bytes: number;
}

interface SliceSum {
  slice: number;
  begins: number | null;
  layers: LayerSum[];
}

/** The partitions of a filter laid on top of each other. */
export function sumOfPartitions(partitions: readonly PartitionInfo[]): SliceSum[] {
  const slices = new Map<number, SliceSum>();
  for (const partition of partitions)
    for (const { slice, begins_ms, layers } of partition.slices) {
      const sum = slices.get(slice) ?? { slice, begins: begins_ms, layers: [] };
      slices.set(slice, sum);
      for (const layer of layers) {
        const total = (sum.layers[layer.layer] ??= { keys: 0, capacity: 0, bytes: 0 });
        total.keys += layer.keys;
        total.capacity += layer.capacity;
        total.bytes += layer.bytes;
      }
    }
  return [...slices.values()].sort((a, b) => a.slice - b.slice);
}

export function SegmentBars({ partitions }: { partitions: readonly PartitionInfo[] }) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const slices = sumOfPartitions(partitions);
  const most = Math.max(1, ...slices.flatMap((slice) => slice.layers.map((layer) => layer?.bytes ?? 0)));
  const short = (n: number): string => shortCount(n, language);
  return (
    <section class="segments" aria-label={text.structure}>
      <h3>{text.structure}</h3>
      <p class="hint">{slices.length === 0 ? text.noSegments : text.structureText}</p>
      {slices.map((slice) => (
        <div key={slice.slice} class="segment-slice">
          {slice.begins !== null && <h4>{text.slice(timeOfDay(slice.begins, language))}</h4>}
          <ol class="layers">
            {slice.layers.map((layer, index) => (
              <li key={index} style={{ "--size": `${(layer.bytes / most) * 100}%` }}>
                <i aria-hidden="true" style={{ "--share": `${Math.min(1, layer.keys / layer.capacity) * 100}%` }} />
                <span>{text.layer(index, short(layer.keys), short(layer.capacity), bytes(layer.bytes))}</span>
              </li>
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}
