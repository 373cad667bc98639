import type { Instance, PartitionInfo } from "../api";
import { bytes, chance, shortCount } from "../ui/format";
import { useSettings, useText } from "../ui/settings";

interface InstanceMapProps {
  instances: readonly Instance[];
  partitions: readonly PartitionInfo[];
}

/** Each instance with its partitions as lamps, the brighter the fuller. */
export function InstanceMap({ instances, partitions }: InstanceMapProps) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const short = (n: number): string => shortCount(n, language);
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
            {partitions
              .filter((partition) => partition.place === instance.place)
              .map((partition) => (
                <li
                  key={partition.partition}
                  title={text.partition(partition.partition, short(partition.keys), chance(partition.fill))}
                  style={{ "--fill": `${Math.min(1, partition.fill) * 100}%` }}
                >
                  <span class="unseen">
                    {text.partition(partition.partition, short(partition.keys), chance(partition.fill))}
                  </span>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
