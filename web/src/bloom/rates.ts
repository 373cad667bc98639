/**
 * Error rates by bits per key, for filters so large that only the ratio counts: the formulas of doc/hashing.md, "Error
 * rates". Plan asks the program for exact figures; these are what Learn moves its curves with.
 */

export const layouts = ["classic", "line-8x64", "line-16x32", "two-line-8x64", "two-line-16x32"] as const;
export type Layout = (typeof layouts)[number];

interface LineShape {
  words: number;
  lines: number; // a key
}

const shapes: Record<Exclude<Layout, "classic">, LineShape> = {
  "line-8x64": { words: 8, lines: 1 },
  "line-16x32": { words: 16, lines: 1 },
  "two-line-8x64": { words: 8, lines: 2 },
  "two-line-16x32": { words: 16, lines: 2 },
};

const lineBits = 512;

/** (1 − e^(−k/c))^k */
export function classicRate(probes: number, bitsPerKey: number): number {
  return (-Math.expm1(-probes / bitsPerKey)) ** probes;
}

/** Σᵢ Poisson(i; 512/c) · (1 − (1 − 1/w)^i)^s, and for two lines p₁(c/2)². */
function lineRate({ words, lines }: LineShape, bitsPerKey: number): number {
  const mean = (lines * lineBits) / bitsPerKey;
  const keep = 1 - words / lineBits;
  const last = mean + 12 * Math.sqrt(mean) + 40;
  let sum = 0;
  let logChance = -mean;
  for (let i = 1; i <= last; ++i) {
    logChance += Math.log(mean / i);
    sum += Math.exp(logChance) * (1 - keep ** i) ** words;
  }
  return Math.min(1, sum) ** lines;
}

/** Probes that need the fewest bits for a rate. */
export function bestProbes(rate: number): number {
  const ideal = Math.max(1, -Math.log2(rate));
  const [fewer, more] = [Math.floor(ideal), Math.ceil(ideal)];
  return classicBits(fewer, rate) <= classicBits(more, rate) ? fewer : more;
}

function classicBits(probes: number, rate: number): number {
  return -probes / Math.log1p(-(rate ** (1 / probes)));
}

export function probesOfLayout(layout: Layout, rate: number): number {
  if (layout === "classic") return bestProbes(rate);
  const { words, lines } = shapes[layout];
  return words * lines;
}

/** Cache lines that a look-up touches. */
export function linesTouched(layout: Layout, rate: number): number {
  return layout === "classic" ? bestProbes(rate) : shapes[layout].lines;
}

/** Bits per key at which a layout reaches a rate; classic with the best number of probes. */
export function bitsPerKey(layout: Layout, rate: number): number {
  if (layout === "classic") return classicBits(bestProbes(rate), rate);
  let low = 0; // logarithms: at low the rate is too high
  let high = Math.log(1e6);
  for (let i = 0; i < 50; ++i) {
    const middle = (low + high) / 2;
    if (lineRate(shapes[layout], Math.exp(middle)) > rate) low = middle;
    else high = middle;
  }
  return Math.exp(high);
}

export function rateOf(layout: Exclude<Layout, "classic">, bits: number): number {
  return lineRate(shapes[layout], bits);
}

/** What the program takes when nobody asks for a layout. */
export function chosenLayout(rate: number): Layout {
  if (rate >= 1e-3) return "line-8x64";
  if (rate >= 1e-5) return "line-16x32";
  return rate >= 1e-8 ? "two-line-8x64" : "two-line-16x32";
}

/** A hash set: 64 bits a hash, in a table that is two thirds full. */
export const hashSetBitsPerKey = 96;
