import type { FilterFigures, FilterList } from "../api";
import { shortCount } from "../ui/format";
import { useSettings, useText } from "../ui/settings";

interface FilterListingProps {
  figures: readonly FilterFigures[];
  list: FilterList;
  chosen: string;
  choose: (url: string) => void;
}

/** All filters by name, each with a bar of how full it is. */
export function FilterListing({ figures, list, chosen, choose }: FilterListingProps) {
  const { watch: text } = useText();
  const { language } = useSettings();
  const listed = figures.length + list.damaged.length;
  return (
    <nav class="listing" aria-label={text.filters}>
      <ul>
        {figures.map((filter) => (
          <li key={filter.url}>
            <button type="button" aria-pressed={filter.url === chosen} onClick={() => choose(filter.url)}>
              <b>{filter.name}</b>
              <span>{text.keysOf(shortCount(filter.keys, language), shortCount(filter.capacity, language))}</span>
              <i aria-hidden="true" style={{ "--share": `${Math.min(1, filter.fill) * 100}%` }} />
            </button>
          </li>
        ))}
        {list.damaged.map((filter) => (
          <li key={filter.url} class="damaged">
            <b>{filter.name}</b>
            <span>
              {text.damaged}: <span lang="en">{filter.detail}</span>
            </span>
          </li>
        ))}
      </ul>
      {list.total > listed && <p class="hint">{text.more(listed, list.total)}</p>}
    </nav>
  );
}
