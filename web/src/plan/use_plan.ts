import { useEffect, useState } from "preact/hooks";

import { Away, get, Refused } from "../api";
import type { PlanAnswer } from "../api";
import type { Layout } from "../bloom/rates";

export interface Wish {
  keys: number;
  by: "rate" | "bits";
  rate: number;
  bits: number; // a key
  layout: Layout | "";
  probes: number; // 0: the best
  values: number;
  redis: boolean;
}

export function planAddress(wish: Wish): string {
  const query = new URLSearchParams({ keys: String(wish.keys) });
  if (wish.by === "rate") query.set("error_rate", String(wish.rate));
  else query.set("bits_per_key", String(wish.bits));
  if (wish.layout) query.set("layout", wish.layout);
  if (wish.probes && (wish.layout === "" || wish.layout === "classic")) query.set("probes", String(wish.probes));
  // A bitmap over fewer values than there are keys is none.
  query.set("values", String(Math.max(wish.values, wish.keys)));
  if (wish.redis) query.set("redis", "true");
  return `/api/v1/plan?${query}`;
}

const settleMs = 80;
const retryMs = 2000;

function wordFor(error: unknown): string {
  if (error instanceof Away) return "away";
  return error instanceof Refused && error.status === 401 ? "locked" : (error as Error).message;
}

export interface Planned {
  /** To what is wished now; while it is asked anew, the answer before. */
  answer: PlanAnswer | null;
  /** Why there is no newer one: "away", "locked" where the server wants a password, or the server's words. */
  problem: string;
}

/** @param tries  changes when the visitor gave a password, so that the planner is asked again */
export function usePlan(wish: Wish, tries: number): Planned {
  const [answer, setAnswer] = useState<PlanAnswer | null>(null);
  const [problem, setProblem] = useState("");
  const address = planAddress(wish);
  useEffect(() => {
    const aborter = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      try {
        setAnswer(await get<PlanAnswer>(address, aborter.signal));
        setProblem("");
      } catch (error) {
        if (aborter.signal.aborted) return;
        setProblem(wordFor(error));
        if (error instanceof Away) timer = window.setTimeout(ask, retryMs);
      }
    };
    timer = window.setTimeout(ask, settleMs);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [address, tries]);
  return { answer, problem };
}
