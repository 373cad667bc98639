import { useEffect, useState } from "preact/hooks";

import { Away, get, Refused } from "../api";
import type { PlanAnswer } from "../api";

const settleMs = 80;
const retryMs = 2000;

function wordFor(error: unknown): string {
  if (error instanceof Away) return "away";
  return error instanceof Refused && error.status === 401 ? "locked" : (error as Error).message;
}

export interface Planned {
  /** To what is asked now; while it is asked anew, the answer before. */
  answer: PlanAnswer | null;
  /** Why there is no newer one: "away", "locked" where the server wants a password, or the server's words. */
  problem: string;
}

/**
 * The planner's answer.
 * @param address  what it is asked
 * @param tries  changes when the visitor gave a password, so that the planner is asked again
 */
export function usePlan(address: string, tries: number): Planned {
  const [planned, setPlanned] = useState<Planned>({ answer: null, problem: "" });
  useEffect(() => {
    const aborter = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      try {
        setPlanned({ answer: await get<PlanAnswer>(address, aborter.signal), problem: "" });
      } catch (error) {
        if (aborter.signal.aborted) return;
        const problem = wordFor(error);
        // What is impossible has no figures. Those of before a pause of the server stay.
        setPlanned((before) => ({ answer: problem === "away" ? before.answer : null, problem }));
        if (problem === "away") timer = window.setTimeout(ask, retryMs);
      }
    };
    timer = window.setTimeout(ask, settleMs);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [address, tries]);
  return planned;
}
