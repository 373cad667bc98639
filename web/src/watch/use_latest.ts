import { useEffect, useState } from "preact/hooks";

import { Away, get, Refused } from "../api";
import { keepAsking } from "./keep_asking";

export interface Latest<T> {
  value: T | null;
  /** Why there is none, or none newer, in the server's words. */
  problem: string;
  /** There is nothing at this address, no longer, or there cannot be. */
  missing: boolean;
}

const nothing = { value: null, problem: "", missing: false };

/**
 * What the server tells at an address, kept while it is asked anew.
 * @param address  "": nothing is asked
 * @param beat  when it changes, the server is asked at once
 */
export function useLatest<T>(address: string, everyMs: number, beat?: unknown): Latest<T> {
  const [state, setState] = useState<{ address: string } & Latest<T>>({ address, ...nothing });
  useEffect(
    () => {
      if (address) return keepAsking(async (signal) => {
        try {
          const value = await get<T>(address, signal);
          setState({ address, ...nothing, value });
        } catch (error) {
          // That nobody answers is what the counters show, which are asked for more often.
          if (signal.aborted || error instanceof Away) return;
          const missing = error instanceof Refused && (error.status === 404 || error.status === 400);
          const problem = (error as Error).message;
          setState((before) => ({
            address,
            value: missing || before.address !== address ? null : before.value,
            problem,
            missing,
          }));
        }
      }, everyMs);
    },
    [address, beat],
  );
  return state.address === address ? state : nothing;
}
