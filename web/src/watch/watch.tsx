/** The filters of this server, live. */

import { useState } from "preact/hooks";

import type { FilterFigures, Stats } from "../api";
import { useText } from "../ui/settings";
import { TokenForm } from "../ui/token_form";
import { EmptyState } from "./empty_state";
import { FilterListing } from "./filter_listing";
import { FilterView } from "./filter_view";
import { ServerFacts } from "./server_facts";
import { perPage, useFilterList } from "./use_filter_list";
import type { Paged } from "./use_filter_list";
import { useWatch } from "./use_watch";
import type { Watched } from "./use_watch";

export function Watch() {
  const { watch: text } = useText();
  const [tries, setTries] = useState(0);
  const watched = useWatch(tries);
  const { connection, stats } = watched;
  const paged = useFilterList(`${connection} ${tries} ${stats?.filters.length}`);
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
        {connection === "live" && paged.problem && <p class="problem">{text.noList(paged.problem)}</p>}
      </div>
      {connection === "locked" ? (
        <TokenForm retry={() => setTries(tries + 1)} />
      ) : (
        stats && <Figures watched={watched} stats={stats} paged={paged} />
      )}
    </div>
  );
}

interface FiguresProps {
  watched: Watched;
  stats: Stats;
  paged: Paged;
}

/** Of the filters on this page of the list: what is counted each second is newer. Without a list, those in use. */
function figuresOf(stats: Stats, { list, problem }: Paged): FilterFigures[] {
  if (!list) return problem ? stats.filters.slice(0, perPage) : [];
  const counters = new Map<string, FilterFigures>(stats.filters.map((filter) => [filter.url, filter]));
  return list.filters.map((filter) => counters.get(filter.url) ?? filter);
}

function Figures({ watched, stats, paged }: FiguresProps) {
  const [chosen, setChosen] = useState("");
  const figures = figuresOf(stats, paged);
  const shown = figures.find((filter) => filter.url === chosen) ?? figures[0];
  return (
    <div class={`figures ${watched.connection === "live" ? "" : "stale"}`}>
      <ServerFacts stats={stats} />
      {paged.list?.total === 0 ? (
        <EmptyState />
      ) : (
        <div class="watch-grid">
          <FilterListing figures={figures} paged={paged} chosen={shown?.url ?? ""} choose={setChosen} />
          {shown && (
            <FilterView
              key={shown.url}
              now={shown}
              listed={paged.list?.filters.find((filter) => filter.url === shown.url)}
              samples={watched.history.get(shown.url) ?? []}
            />
          )}
        </div>
      )}
    </div>
  );
}
