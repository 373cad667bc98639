import { hasToken } from "../api";
import { Command } from "../ui/copy";
import { useText } from "../ui/settings";

/** No filter yet: how to make one, at this very address. */
export function EmptyState() {
  const { watch: text } = useText();
  const body = JSON.stringify({ name: "clicks", capacity: 1000000, error_rate: 1e-6 });
  const token = hasToken() ? " -H 'Authorization: Bearer PASSWORD'" : "";
  return (
    <section class="card empty" aria-labelledby="empty">
      <h2 id="empty">{text.emptyTitle}</h2>
      <p>{text.emptyText}</p>
      <Command line={`curl${token} -H 'Content-Type: application/json' -d '${body}' ${location.origin}/api/v1/filters`} />
      <p>{text.emptyThen}</p>
      <Command line="redis-cli -p 6380 BF.RESERVE clicks 0.000001 1000000" />
    </section>
  );
}
