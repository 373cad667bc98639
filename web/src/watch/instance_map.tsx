import type { Instance, PartitionInfo } from "../api";
import { bytes, chance, shortCount } from "../ui/format";
import { useSettings, useText } from "../ui/settings";

interface InstanceMapProps {
  instances: readonly Instance[];
  partitions: readonly PartitionInfo[];
}

/** More lamps than these tell nobody more: beyond, each stands for several neighbours. */
const mostLamps = 128;

/** Partitions that share a lamp. */
export interface LampGroup {
  first: number;
  last: number;
  keys: number;
  fill: number; // the mean
}

export function groupsOf(partitions: readonly PartitionInfo[], most = mostLamps): LampGroup[] {
  const each = Math.ceil(partitions.length / most);
  const groups: LampGroup[] = [];
  for (let at = 0; at < partitions.length; at += each) {
    const group = partitions.slice(at, at + each);
    groups.push({
      first: group[0].partition,
      last: group[group.length - 1].partition,
      keys: group.reduce((sum, partition) => sum + partition.keys, 0),
      fill: group.reduce((sum, partition) => sum + partition.fill, 0) / group.length,
    });
  }
  return groups;
}

/** Each instance with its partitions as lamps, the brighter the fuller. */
export function InstanceMap({ instances, partitions }: InstanceMapProps) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const short = (n: number): string => shortCount(n, language);
  const byPlace = new Map<string, PartitionInfo[]>(instances.map(({ place }) => [place, []]));
  for (const partition of partitions) byPlace.get(partition.place)?.push(partition);
  return (
    <section class="instances" aria-label={text.instances}>
      <h3>{text.instances}</h3>
      {instances.map((instance) => (
        <div key={instance.place} class="instance">
          <p>
            <b>{instance.place || text.here}</b>{" "}
            <span class="hint">{text.instance(instance.partitions, short(instance.keys), bytes(instance.bytes))}</span>
          </p>
          <ul>
            {groupsOf(byPlace.get(instance.place) ?? []).map((group) => (
              <Lamp key={group.first} group={group} />
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function Lamp({ group: { first, last, keys, fill } }: { group: LampGroup }) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const numbers = first === last ? String(first) : `${first}–${last}`;
  const words = text.partition(numbers, shortCount(keys, language), chance(fill));
  return (
    <li title={words} style={{ "--fill": `${Math.min(1, fill) * 100}%` }}>
      <span class="unseen">{words}</span>
    </li>
  );
}
