import { useEffect, useRef, useState } from "preact/hooks";

import { hashOf, settleAt, settleMs, usePlace } from "../ui/address";
import { readWish, writeWish } from "./wish";
import type { Wish } from "./wish";

/** The wish, kept in step with the address. */
export function useWish(): [Wish, (part: Partial<Wish>) => void] {
  const { page, query } = usePlace();
  const [wish, setWish] = useState(() => readWish(query));
  const written = useRef(page === "plan" ? String(query) : "");
  // Another address than the one that was written from here: a link, or a step in the history.
  useEffect(() => {
    if (page !== "plan" || String(query) === written.current) return;
    written.current = String(query);
    setWish(readWish(query));
  }, [page, String(query)]);
  useEffect(() => {
    const timer = setTimeout(() => {
      written.current = writeWish(wish);
      settleAt(hashOf("plan", "", written.current));
    }, settleMs);
    return () => clearTimeout(timer);
  }, [wish]);
  return [wish, (part) => setWish({ ...wish, ...part })];
}
