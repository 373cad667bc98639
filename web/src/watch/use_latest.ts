import { useEffect, useState } from "preact/hooks";

import { Away, get } from "../api";
import { keepAsking } from "./keep_asking";

export interface Latest<T> {
  value: T | null;
  /** Why there is none, or none newer, in the server's words. */
  problem: string;
}

/**
 * What the server tells at an address, kept while it is asked anew.
 * @param beat  when it changes, the server is asked at once
 */
export function useLatest<T>(address: string, everyMs: number, beat?: unknown): Latest<T> {
  const [state, setState] = useState<{ address: string } & Latest<T>>({ address, value: null, problem: "" });
  useEffect(
    () =>
    keepAsking(async (signal) => {
      try {
        const value = await get<T>(address, signal);
        setState({ address, value, problem: "" });
      } catch (error) {
        // That nobody answers is what the counters show, which are asked for more often.
        if (signal.aborted || error instanceof Away) return;
        const problem = (error as Error).message;
        setState((before) => ({ address, value: before.address === address ? before.value : null, problem }));
      }
    }, everyMs),
    [address, beat],
  );
  return state.address === address ? state : { value: null, problem: "" };
}
