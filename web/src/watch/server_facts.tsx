import type { Stats } from "../api";
import { bytes, clock, count } from "../ui/format";
import { useText } from "../ui/settings";

const daySeconds = 86400;

/** 3 d 4:05:06 */
function uptime(seconds: number, days: (days: number, rest: string) => string): string {
  const rest = Math.floor(seconds % daySeconds);
  const hours = Math.floor(rest / 3600);
  const minutes = clock(rest % 3600).padStart(5, "0");
  const shown = `${hours}:${minutes}`;
  return seconds < daySeconds ? shown : days(Math.floor(seconds / daySeconds), shown);
}

export function ServerFacts({ stats }: { stats: Stats }) {
  const { watch: text } = useText();
  const facts: [string, string, string?][] = [
    [text.uptime, uptime(stats.uptime_seconds, text.days)],
    [text.connections, count(stats.connections.open)],
    [text.added, count(stats.keys_added)],
    [text.checked, count(stats.keys_checked)],
    [text.memory, bytes(stats.bytes), stats.max_bytes === null ? undefined : text.of(bytes(stats.max_bytes))],
    [text.outages, count(stats.outages)],
  ];
  return (
    <section class="server" aria-label={text.server}>
      <dl>
        {facts.map(([name, value, note]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value} {note && <small>{note}</small>}
            </dd>
          </div>
        ))}
      </dl>
      <p class="hint">
        everseen {stats.version}, {text.stores[stats.store]}
      </p>
    </section>
  );
}
