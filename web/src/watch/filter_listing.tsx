import type { FilterList, UnreadFilter } from "../api";
import { count, percent, shortCount } from "../ui/format";
import { useSettings, useText } from "../ui/settings";
import { placeOfFilter } from "./shown_filter";
import type { Shown } from "./shown_filter";
import type { Paged } from "./use_filter_list";

interface FilterListingProps {
  shown: Shown;
  paged: Paged;
}

/** A page of filters by name, each with a bar of how full it is, and those that could not be read. */
export function FilterListing({ shown, paged }: FilterListingProps) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const { list } = paged;
  return (
    <nav class="listing" aria-label={text.filters}>
      <ul>
        {shown.figures.map((filter) => (
          <li key={filter.url}>
            <a href={placeOfFilter(filter)} aria-current={filter.url === shown.url ? "true" : undefined}>
              <b>{filter.name}</b>
              <span>{text.keysOf(shortCount(filter.keys, language), percent(filter.fill))}</span>
              <i aria-hidden="true" style={{ "--share": `${Math.min(1, filter.fill) * 100}%` }} />
            </a>
          </li>
        ))}
        {list?.damaged.map((filter) => <Unread key={filter.url} filter={filter} kind="damaged" />)}
        {list?.unreachable.map((filter) => <Unread key={filter.url} filter={filter} kind="unreachable" />)}
      </ul>
      {list && <Pages paged={paged} list={list} />}
    </nav>
  );
}

/** A filter of which there is no more to show than why. */
function Unread({ filter, kind }: { filter: UnreadFilter; kind: "damaged" | "unreachable" }) {
  const { watch: text } = useText();
  return (
    <li class={`unread ${kind}`}>
      <b>{filter.name}</b>
      <span>
        <strong>{text[kind]}</strong> <span lang="en">{filter.detail}</span>
      </span>
    </li>
  );
}

function Pages({ paged, list }: { paged: Paged; list: FilterList }) {
  const { watch: text } = useText();
  const { before, earlier, later } = paged;
  if (!earlier && !later) return null;
  const shown = list.filters.length + list.damaged.length + list.unreachable.length;
  return (
    <div class="pages">
      <p class="hint" role="status">
        {text.pageOf(count(before + Math.min(1, shown)), count(before + shown), count(list.total))}
      </p>
      <div class="small-buttons">
        <button type="button" class="quiet" disabled={!earlier} onClick={earlier}>
          {text.earlier}
        </button>
        <button type="button" class="quiet" disabled={!later} onClick={later}>
          {text.later}
        </button>
      </div>
    </div>
  );
}
