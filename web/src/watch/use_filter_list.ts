/** The names of all filters, a page at a time. */

import { useState } from "preact/hooks";

import type { FilterList } from "../api";
import { useLatest } from "./use_latest";

/** The list takes the store some time, and changes seldom. */
const everyMs = 5000;
export const perPage = 100;

export interface Paged {
  list: FilterList | null;
  problem: string;
  /** How many filters come before this page. */
  before: number;
  /** Turns to the page after or before; undefined where there is none. */
  later?: () => void;
  earlier?: () => void;
}

/** @param beat  changes when a filter came or went, or the server is back or knows who asks */
export function useFilterList(beat: unknown): Paged {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const after = cursors.length > 0 ? `&after=${cursors[cursors.length - 1]}` : "";
  const latest = useLatest<FilterList>(`/api/v1/filters?limit=${perPage}${after}`, everyMs, beat);
  const next = latest.value?.next;
  return {
    list: latest.value,
    problem: latest.problem,
    before: cursors.length * perPage,
    later: next ? () => setCursors([...cursors, next]) : undefined,
    earlier: cursors.length > 0 ? () => setCursors(cursors.slice(0, -1)) : undefined,
  };
}
