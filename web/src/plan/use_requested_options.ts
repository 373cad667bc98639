import { useEffect, useRef, useState } from "preact/hooks";

import { hashOf, settleAt, settleMs, usePlace } from "../ui/address";
import { readOptions, writeOptions } from "./requested_options";
import type { RequestedOptions } from "./requested_options";

/** The requested options, kept in step with the address. */
export function useRequestedOptions(): [RequestedOptions, (part: Partial<RequestedOptions>) => void] {
  const { page, query } = usePlace();
  const [options, setOptions] = useState(() => readOptions(query));
  const written = useRef(page === "plan" ? String(query) : "");
  // The address changed elsewhere: by a link, or by a step in the history.
  useEffect(() => {
    if (page !== "plan" || String(query) === written.current) return;
    written.current = String(query);
    setOptions(readOptions(query));
  }, [page, String(query)]);
  useEffect(() => {
    const timer = setTimeout(() => {
      written.current = writeOptions(options);
      settleAt(hashOf("plan", "", written.current));
    }, settleMs);
    return () => clearTimeout(timer);
  }, [options]);
  return [options, (part) => setOptions({ ...options, ...part })];
}
