import type { Stats } from "../api";
import { curlLine, redisCli } from "../ui/commands";
import { Command } from "../ui/copy";
import { useText } from "../ui/settings";

const body = { name: "clicks", capacity: 1000000, error_rate: 1e-6 };

/** No filter yet: how to make one, at the addresses of this very server. */
export function EmptyState({ stats }: { stats: Stats }) {
  const { watch: text } = useText();
  const redis = redisCli(stats.redis_addresses);
  return (
    <section class="card empty" aria-labelledby="empty">
      <h2 id="empty">{text.emptyTitle}</h2>
      <p>{text.emptyText}</p>
      <Command line={curlLine({ method: "POST", path: "/api/v1/filters", type: "application/json", body: JSON.stringify(body) })} />
      {redis && (
        <>
          <p>{text.emptyThen}</p>
          <Command line={`${redis} BF.RESERVE clicks 0.000001 1000000`} />
        </>
      )}
      <p>{text.emptyAdd}</p>
      <Command
        line={curlLine({
          method: "POST",
          path: "/api/v1/filters/clicks/add",
          type: "application/json",
          body: JSON.stringify({ keys: ["alice", "bob", "alice"] }),
        })}
      />
    </section>
  );
}
