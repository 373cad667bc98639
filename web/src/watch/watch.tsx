/** The filters of this server, live. */

import { useState } from "preact/hooks";

import type { Stats } from "../api";
import { linkTo } from "../ui/address";
import { Problem } from "../ui/problem";
import { useText } from "../ui/settings";
import { TokenForm } from "../ui/token_form";
import { EmptyState } from "./empty_state";
import { FilterListing } from "./filter_listing";
import { FilterView } from "./filter_view";
import { ServerFacts } from "./server_facts";
import { useShownFilter } from "./shown_filter";
import { useFilterList } from "./use_filter_list";
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
        {connection === "refused" && <Problem words={text.refused} detail={watched.detail} />}
        {connection === "live" && paged.problem && <Problem words={text.noList} detail={paged.problem} />}
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

function Figures({ watched, stats, paged }: FiguresProps) {
  const shown = useShownFilter(stats, paged);
  const isEmpty = paged.list?.total === 0 && stats.filters.length === 0;
  return (
    <div class={`figures ${watched.connection === "live" ? "" : "stale"}`}>
      <ServerFacts stats={stats} />
      {isEmpty ? (
        <EmptyState stats={stats} />
      ) : (
        <div class="watch-grid">
          <FilterListing shown={shown} paged={paged} />
          {shown.missing && <NoFilter name={shown.missing} />}
          {shown.now && <FilterView key={shown.url} shown={shown} now={shown.now} samples={watched.history.get(shown.url) ?? []} />}
        </div>
      )}
    </div>
  );
}

/** The address names a filter that does not exist, or no longer. */
function NoFilter({ name }: { name: string }) {
  const { watch: text } = useText();
  return (
    <section class="card empty" role="status">
      <h2>{text.missingTitle(name)}</h2>
      <p>{text.missingText}</p>
      <p>
        <a class="button" href={linkTo("watch", true)}>
          {text.busiest}
        </a>
      </p>
    </section>
  );
}
