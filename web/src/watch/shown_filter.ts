/** Which filter is in view, and its figures: the same in the list and beside it. */

import { useEffect } from "preact/hooks";

import type { Filter, FilterCounters, FilterFigures, FilterInfo, Stats } from "../api";
import { hashOf, settleAt, usePlace } from "../ui/address";
import { perPage } from "./use_filter_list";
import type { Paged } from "./use_filter_list";
import { useLatest } from "./use_latest";
import { everyMs } from "./use_watch";

const filtersPath = "/api/v1/filters/";

/** The place of a filter in the page's address. */
export function placeOfFilter({ url }: { url: string }): string {
  return hashOf("watch", url.slice(filtersPath.length));
}

/**
 * The server's address of a filter; "" if no filter can be there. The detail of a link stays one segment of the path, so a link leads to
 * nothing else of the server. The server itself puts the names `.` and `..` in quotes.
 */
export function addressOf(detail: string): string {
  if (/^(\.|%2e){0,2}$/i.test(detail)) return "";
  return filtersPath + detail.replace(/[^\w%.~!$&'()*+,;=:@-]/gu, encodeURIComponent);
}

export function nameIn(detail: string): string {
  try {
    return decodeURIComponent(detail);
  } catch {
    return detail; // bytes that are not UTF-8
  }
}

/** The filter that judged most keys; the first of the list where none is in use. */
export function busiestOf(stats: Stats, listed: readonly FilterFigures[]): FilterFigures | undefined {
  const judged = ({ adds, checks }: FilterCounters): number => adds + checks;
  const used = stats.filters.filter((filter) => judged(filter) > 0);
  return used.sort((a, b) => judged(b) - judged(a))[0] ?? listed[0] ?? stats.filters[0];
}

/** Of the filters on this page of the list: what is counted each second is newer. Without a list, those in use. */
function figuresOf(stats: Stats, { list, problem }: Paged): FilterFigures[] {
  if (!list) return problem ? stats.filters.slice(0, perPage) : [];
  const counters = new Map<string, FilterFigures>(stats.filters.map((filter) => [filter.url, filter]));
  return list.filters.map((filter) => counters.get(filter.url) ?? filter);
}

export interface Shown {
  /** The list, in which the filter in view is as it is in view. */
  figures: readonly FilterFigures[];
  url: string;
  /** The filter in view; undefined while nothing is known of it, or if there is none of this name. */
  now?: FilterFigures;
  listed?: Filter;
  info: FilterInfo | null;
  problem: string;
  /** The name of the address, if there is no such filter. */
  missing: string;
}

/** The filter that the address names; without a name the busiest, which the address then names. */
export function useShownFilter(stats: Stats, paged: Paged): Shown {
  const { page, detail } = usePlace();
  const listedNow = figuresOf(stats, paged);
  const isKnown = paged.list !== null || paged.problem !== "";
  const busiest = isKnown ? busiestOf(stats, listedNow) : undefined;
  const url = detail ? addressOf(detail) : (busiest?.url ?? "");
  const { value: info, problem, missing } = useLatest<FilterInfo>(url, everyMs);
  useEffect(() => {
    // The counters may still have a filter that is known to be gone.
    if (page === "watch" && !detail && url && !missing) settleAt(placeOfFilter({ url }));
  }, [page, detail, url, missing]);
  const listed = paged.list?.filters.find((filter) => filter.url === url);
  const counted = [...stats.filters, ...listedNow].find((filter) => filter.url === url);
  const now = missing ? undefined : ((problem ? counted : info) ?? counted ?? info ?? undefined);
  const others = listedNow.filter((filter) => filter.url !== url);
  const at = listedNow.findIndex((filter) => filter.url === url);
  // One that is on another page of the list comes first.
  const figures = now ? [...others.slice(0, Math.max(at, 0)), now, ...others.slice(Math.max(at, 0))] : others;
  return { figures, url, now, listed, info: problem ? null : info, problem, missing: missing || (detail && !url) ? nameIn(detail) : "" };
}
