/** The filters of this server, live. */

import { useState } from "preact/hooks";

import type { FilterCounters, FilterFigures } from "../api";
import { useText } from "../ui/settings";
import { EmptyState, TokenForm } from "./states";
import { FilterListing } from "./filter_listing";
import { FilterView } from "./filter_view";
import { ServerFacts } from "./server_facts";
import { useWatch } from "./use_watch";
import type { Watched } from "./use_watch";

export function Watch() {
  const { watch: text } = useText();
  const [tries, setTries] = useState(0);
  const watched = useWatch(tries);
  const { connection, stats, list } = watched;
  return (
    <div class="watcher">
      <div class="page-head">
        <h1 tabIndex={-1}>{text.title}</h1>
        <p class="lead">{text.lead}</p>
      </div>
      <div role="status">
        {connection === "waiting" && <p class="hint">{text.waiting}</p>}
        {connection === "away" && (
          <p class="problem">
            {text.away} {stats && text.awayFigures}
          </p>
        )}
        {connection === "refused" && <p class="problem">{text.refused(watched.detail)}</p>}
      </div>
      {connection === "locked" ? (
        <TokenForm retry={() => setTries(tries + 1)} />
      ) : (
        stats && list && <Figures watched={watched} />
      )}
    </div>
  );
}

function Figures({ watched }: { watched: Watched }) {
  const { stats, list, history, connection } = watched;
  const [chosen, setChosen] = useState("");
  if (!stats || !list) return null;
  // What is counted each second is newer than the list.
  const counters = new Map<string, FilterCounters>(stats.filters.map((filter) => [filter.url, filter]));
  const figures = list.filters.map((filter): FilterFigures => counters.get(filter.url) ?? filter);
  const shown = list.filters.find((filter) => filter.url === chosen) ?? list.filters[0];
  return (
    <div class={`figures ${connection === "live" ? "" : "stale"}`}>
      <ServerFacts stats={stats} />
      {list.total === 0 ? (
        <EmptyState />
      ) : (
        <div class="watch-grid">
          <FilterListing figures={figures} list={list} chosen={shown?.url ?? ""} choose={setChosen} />
          {shown && (
            <FilterView
              key={shown.url}
              filter={shown}
              now={counters.get(shown.url) ?? shown}
              samples={history.get(shown.url) ?? []}
              beat={stats.now_ms}
            />
          )}
        </div>
      )}
    </div>
  );
}
