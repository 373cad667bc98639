/**
 * What the page shows, as its address has it, so that a copied link shows the same thing and back and forward work:
 * /?lang=en#learn/size, #plan?find=bits&keys=10M, #watch/clicks. The name of a filter and the inputs of a plan follow the #, which
 * browsers send to no server.
 */

import { useEffect, useState } from "preact/hooks";

export interface Place {
  page: string;
  /** A chapter, or a filter, as it is written in the address. */
  detail: string;
  query: URLSearchParams;
}

export function placeOf(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const [page, ...detail] = path.split("/");
  return { page, detail: detail.join("/"), query: new URLSearchParams(query) };
}

export function hashOf(page: string, detail: string, query = ""): string {
  return `#${page}${detail && `/${detail}`}${query && `?${query}`}`;
}

const moved = "everseen-moved";

/** The place in front. It changes with every step in the history, and with `settleAt`. */
export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    const events = ["hashchange", "popstate", moved];
    events.forEach((event) => addEventListener(event, changed));
    changed();
    return () => events.forEach((event) => removeEventListener(event, changed));
  }, []);
  return placeOf(hash);
}

/** Browsers allow some hundred changes of the address in half a minute, so it changes once things have come to rest. */
export const settleMs = 250;

/** Changes the address without a step in the history: for what changes all the time. */
export function settleAt(hash: string): void {
  const { page } = placeOf(location.hash);
  // Meanwhile the visitor may have left for another page.
  if (location.hash === hash || (page && page !== placeOf(hash).page)) return;
  history.replaceState(history.state, "", hash);
  dispatchEvent(new Event(moved));
}

/** The places that were last seen of each page, so that the way back to one leads to what was there. */
const lastOf = new Map<string, string>();

export function remember(page: string): void {
  if (location.hash) lastOf.set(page, location.hash);
}

/** The address of a page as it was left, or from its start. */
export function linkTo(page: string, fromItsStart = false): string {
  return `/${location.search}${(!fromItsStart && lastOf.get(page)) || hashOf(page, "")}`;
}

export function languageOfAddress(): string | null {
  return new URLSearchParams(location.search).get("lang");
}

function writeLanguage(language: string): void {
  if (languageOfAddress() === language) return;
  const query = new URLSearchParams(location.search);
  query.set("lang", language);
  history.replaceState(history.state, "", `?${query}${location.hash}`);
}

/** Keeps the language in the address, also in that of earlier steps when the visitor goes back to them. */
export function useLanguageInAddress(language: string): void {
  // Now, since links that are drawn next have it.
  writeLanguage(language);
  useEffect(() => {
    const write = (): void => writeLanguage(language);
    addEventListener("popstate", write);
    return () => removeEventListener("popstate", write);
  }, [language]);
}
