import { useEffect, useRef, useState } from "preact/hooks";

import { hashOf, settleAt, settleMs, usePlace } from "../ui/address";
import { noRefusals, readOptions, refusalsOf, writeOptions } from "./requested_options";
import type { Refusals, RequestedOptions } from "./requested_options";

interface Requested {
  options: RequestedOptions;
  change: (part: Partial<RequestedOptions>) => void;
  /** What of the address was not taken, until something is changed. */
  refusals: Refusals;
}

/** The requested options, kept in step with the address. */
export function useRequestedOptions(): Requested {
  const { page, query } = usePlace();
  const [options, setOptions] = useState(() => readOptions(query));
  const [refusals, setRefusals] = useState(() => refusalsOf(query));
  const written = useRef(page === "plan" ? String(query) : "");
  // The address changed elsewhere: by a link, or by a step in the history.
  useEffect(() => {
    if (page !== "plan" || String(query) === written.current) return;
    written.current = String(query);
    setOptions(readOptions(query));
    setRefusals(refusalsOf(query));
  }, [page, String(query)]);
  useEffect(() => {
    const timer = setTimeout(() => {
      written.current = writeOptions(options);
      settleAt(hashOf("plan", "", written.current));
    }, settleMs);
    return () => clearTimeout(timer);
  }, [options]);
  const change = (part: Partial<RequestedOptions>): void => {
    setOptions({ ...options, ...part });
    setRefusals(noRefusals);
  };
  return { options, change, refusals };
}
