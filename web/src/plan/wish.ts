/** What the visitor wants to know of a filter, and how the address says it. */

import { layouts } from "../bloom/rates";
import type { Layout } from "../bloom/rates";
import { kinds } from "../ui/quantities";
import type { Kind } from "../ui/quantities";

/** Of the four, three give the fourth. They are called n, m, p and k in books, and in this order. */
export const unknowns = ["keys", "bits", "error_rate", "probes"] as const;
export type Unknown = (typeof unknowns)[number];

export interface Wish {
  find: Unknown;
  keys: number;
  bits: number;
  error_rate: number;
  probes: number; // 0: the best
  layout: Layout | "";
  values: number;
  redis: boolean;
}

export const firstWish: Wish = {
  find: "bits",
  keys: 1e7,
  bits: 2 ** 27,
  error_rate: 1e-3,
  probes: 0,
  layout: "",
  values: 1e10,
  redis: false,
};

interface Bounds {
  kind: keyof typeof kinds;
  /** Where the slider begins and ends. */
  min: number;
  max: number;
  /** What may be typed, as the planner has it. */
  least: number;
  most: number;
}

const mostKeys = 2 ** 48;

export const boundsOf = {
  keys: { kind: "count", min: 1e3, max: 1e11, least: 1, most: mostKeys },
  bits: { kind: "bits", min: 1e4, max: 1e13, least: 512, most: 2 ** 53 },
  error_rate: { kind: "rate", min: 1e-12, max: 0.1, least: 1e-15, most: 0.5 },
  probes: { kind: "whole", min: 0, max: 64, least: 0, most: 64 },
  values: { kind: "count", min: 1e4, max: 1e14, least: 1, most: mostKeys },
} satisfies Record<string, Bounds>;

export type WishedNumber = keyof typeof boundsOf;

/** The layout that is asked for: only the classic one has probes to choose. */
export function layoutOf({ find, probes, layout }: Wish): Layout | "" {
  return find === "probes" || probes > 0 ? "classic" : layout;
}

/** What of a wish counts: all but what is to be found. */
function parts(wish: Wish): [WishedNumber, number][] {
  const names = (Object.keys(boundsOf) as WishedNumber[]).filter((name) => name !== wish.find);
  return names.map((name) => [name, wish[name]]);
}

export function planAddress(wish: Wish): string {
  const query = new URLSearchParams();
  for (const [name, value] of parts(wish)) {
    if (name === "probes" ? value > 0 : name !== "values") query.set(name, String(value));
  }
  // A bitmap over fewer values than there are keys is none, and without a number of keys nothing is known of it.
  if (wish.find !== "keys") query.set("values", String(Math.max(wish.values, wish.keys)));
  const layout = layoutOf(wish);
  if (layout) query.set("layout", layout);
  if (wish.redis) query.set("redis", "true");
  return `/api/v1/plan?${query}`;
}

/** As it stands in the address of the page: find=bits&keys=10M&error_rate=0.001 */
export function writeWish(wish: Wish): string {
  const query = new URLSearchParams({ find: wish.find });
  for (const [name, value] of parts(wish)) query.set(name, kinds[boundsOf[name].kind].write(value));
  const layout = layoutOf(wish);
  if (layout) query.set("layout", layout);
  if (wish.redis) query.set("redis", "true");
  return String(query);
}

/** What an address says; what it does not say, or says wrongly, is as at first. */
export function readWish(query: URLSearchParams): Wish {
  const number = (name: WishedNumber): number => {
    const { kind, least, most } = boundsOf[name];
    const value = (kinds[kind] as Kind).read(query.get(name) ?? "");
    return value === null || value < least || value > most ? firstWish[name] : value;
  };
  return {
    find: unknowns.find((each) => each === query.get("find")) ?? firstWish.find,
    keys: number("keys"),
    bits: number("bits"),
    error_rate: number("error_rate"),
    probes: number("probes"),
    values: number("values"),
    layout: layouts.find((each) => each === query.get("layout")) ?? "",
    redis: query.get("redis") === "true",
  };
}
