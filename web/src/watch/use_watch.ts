/** What the server counts each second, and what it counted in the last two minutes. */

import { useEffect, useRef, useState } from "preact/hooks";

import { Away, get, Refused } from "../api";
import type { Stats, Tally } from "../api";
import { keepAsking } from "./keep_asking";

export const everyMs = 1000;
export const historySeconds = 120;

/** The counters of a filter at a moment. */
export interface Sample {
  at: number; // seconds, by the server's clock
  adds: number;
  checks: number;
  verdicts: Tally;
}

export type Connection = "waiting" | "live" | "away" | "locked" | "refused";

export interface Watched {
  connection: Connection;
  detail: string; // why it is refused
  stats: Stats | null;
  history: ReadonlyMap<string, readonly Sample[]>;
}

const nothing: Watched = { connection: "waiting", detail: "", stats: null, history: new Map() };

/** The history with what is told now. A filter of which nothing is told for a moment, as in an outage, keeps its own. */
export function withSamples(history: Watched["history"], stats: Stats): Map<string, readonly Sample[]> {
  const at = stats.now_ms / 1000;
  const recent = [...history].filter(([, samples]) => samples[samples.length - 1].at > at - historySeconds);
  const next = new Map<string, readonly Sample[]>(recent);
  for (const { url, adds, checks, verdicts } of stats.filters) {
    const sum = { ...verdicts.add };
    for (const kind of Object.keys(sum) as (keyof Tally)[]) sum[kind] += verdicts.check[kind];
    const before = (history.get(url) ?? []).filter((sample) => sample.at > at - historySeconds - 2 && sample.at < at);
    // Smaller counters are those of a server that began anew.
    const last = before[before.length - 1];
    const same = last && last.adds <= adds && last.checks <= checks;
    next.set(url, [...(same ? before : []), { at, adds, checks, verdicts: sum }]);
  }
  return next;
}

function failed(before: Watched, error: unknown): Watched {
  if (error instanceof Away) return { ...before, connection: "away" };
  if (error instanceof Refused && error.status === 401) return { ...before, connection: "locked" };
  return { ...before, connection: "refused", detail: (error as Error).message };
}

/** @param tries  changes when the visitor gave a password, so that the server is asked at once */
export function useWatch(tries: number): Watched {
  const [watched, setWatched] = useState<Watched>(nothing);
  const latest = useRef(nothing);
  useEffect(
    () =>
      keepAsking(async (signal) => {
        let next = latest.current;
        try {
          const stats = await get<Stats>("/api/v1/stats", signal);
          next = { connection: "live", detail: "", stats, history: withSamples(next.history, stats) };
        } catch (error) {
          if (signal.aborted) return;
          next = failed(next, error);
        }
        latest.current = next;
        setWatched(next);
      }, everyMs),
    [tries],
  );
  return watched;
}
