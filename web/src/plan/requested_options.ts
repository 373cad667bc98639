/** The options of a plan that the visitor requests, and their form in the address of the page. */

import { layouts } from "../bloom/rates";
import type { Layout } from "../bloom/rates";
import { faultOf } from "../ui/faults";
import { kinds } from "../ui/quantities";
import type { Kind } from "../ui/quantities";

/** Three of the four give the fourth. In books they are n, m, p and k, in this order. */
export const unknowns = ["keys", "bits", "error_rate", "probes"] as const;
export type Unknown = (typeof unknowns)[number];

export interface RequestedOptions {
  find: Unknown;
  keys: number;
  bits: number;
  error_rate: number;
  probes: number; // 0: the best
  layout: Layout | "";
  values: number;
}

export const defaultOptions: RequestedOptions = {
  find: "bits",
  keys: 1e7,
  bits: 2 ** 27,
  error_rate: 1e-3,
  probes: 0,
  layout: "",
  values: 1e10,
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

export type RequestedNumber = keyof typeof boundsOf;

/** The requested layout. Only the classic layout has a choice of probes. */
export function layoutOf({ find, probes, layout }: RequestedOptions): Layout | "" {
  return find === "probes" || probes > 0 ? "classic" : layout;
}

/** The numbers that are given: all but the one to be found. */
function parts(options: RequestedOptions): [RequestedNumber, number][] {
  const names = (Object.keys(boundsOf) as RequestedNumber[]).filter((name) => name !== options.find);
  return names.map((name) => [name, options[name]]);
}

export function planAddress(options: RequestedOptions): string {
  const query = new URLSearchParams();
  for (const [name, value] of parts(options)) {
    if (name === "probes" ? value > 0 : name !== "values") query.set(name, String(value));
  }
  // The server refuses fewer values than keys.
  if (options.find !== "keys") query.set("values", String(Math.max(options.values, options.keys)));
  const layout = layoutOf(options);
  if (layout) query.set("layout", layout);
  return `/api/v1/plan?${query}`;
}

/** The query of the address, as in find=bits&keys=10M&error_rate=0.001 */
export function writeOptions(options: RequestedOptions): string {
  const query = new URLSearchParams({ find: options.find });
  for (const [name, value] of parts(options)) query.set(name, kinds[boundsOf[name].kind].write(value));
  const layout = layoutOf(options);
  if (layout) query.set("layout", layout);
  return String(query);
}

/** What an address asks for and does not get. */
export interface Refusals {
  numbers: Partial<Record<RequestedNumber, string>>;
  /** Everything else, as name=value. */
  others: string[];
}

export const noRefusals: Refusals = { numbers: {}, others: [] };

const choices: Record<string, readonly string[]> = { find: unknowns, layout: ["", ...layouts] };

/** What of the query of an address is not taken. Numbers that the page does not show do not count. */
export function refusalsOf(query: URLSearchParams): Refusals {
  const shown = new Map(parts(readOptions(query)));
  const numbers: Refusals["numbers"] = {};
  const others: string[] = [];
  for (const [name, text] of query) {
    const bounds = boundsOf[name as RequestedNumber] as Bounds | undefined;
    if (bounds === undefined) {
      if (!choices[name]?.includes(text)) others.push(`${name}=${text}`);
    } else if (shown.has(name as RequestedNumber) && faultOf(kinds[bounds.kind], text, bounds.least, bounds.most)) {
      numbers[name as RequestedNumber] = text;
    }
  }
  return { numbers, others };
}

/** Reads the query of an address. What is missing or invalid gets its default. */
export function readOptions(query: URLSearchParams): RequestedOptions {
  const number = (name: RequestedNumber): number => {
    const { kind, least, most } = boundsOf[name];
    const value = (kinds[kind] as Kind).read(query.get(name) ?? "");
    return value === null || value < least || value > most ? defaultOptions[name] : value;
  };
  return {
    find: unknowns.find((each) => each === query.get("find")) ?? defaultOptions.find,
    keys: number("keys"),
    bits: number("bits"),
    error_rate: number("error_rate"),
    probes: number("probes"),
    values: number("values"),
    layout: layouts.find((each) => each === query.get("layout")) ?? "",
  };
}
