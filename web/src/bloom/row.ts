/** The row of bits that Learn begins with: a Bloom filter of a few bits, and the words that are in it. */

import { fnv1a, murmur3 } from "./hashes";

export interface Row {
  readonly size: number; // bits
  readonly probes: number;
  readonly words: readonly string[];
}

export interface Probe {
  hash: number; // 32 bits
  position: number;
}

/**
 * The probes of a word: FNV-1a, Murmur3, and from the third on their sums FNV-1a + i · Murmur3, since two good hashes
 * are enough for any number of probes.
 */
export function probesOf(word: string, row: Pick<Row, "size" | "probes">): Probe[] {
  const first = fnv1a(word);
  const second = murmur3(word);
  return Array.from({ length: row.probes }, (_, i) => {
    const hash = i === 0 ? first : i === 1 ? second : (first + Math.imul(i - 1, second)) >>> 0;
    return { hash, position: hash % row.size };
  });
}

export function add(row: Row, word: string): Row {
  return row.words.includes(word) ? row : { ...row, words: [...row.words, word] };
}

/** The words that switched a bit on, in the order in which they came. */
export function wordsOn(position: number, row: Row): string[] {
  return row.words.filter((word) => probesOf(word, row).some((probe) => probe.position === position));
}

/** Which bits are on: made anew from the words, so that size and probes can change under them. */
export function bitsOf(row: Row): boolean[] {
  const bits = new Array<boolean>(row.size).fill(false);
  for (const word of row.words) for (const { position } of probesOf(word, row)) bits[position] = true;
  return bits;
}

/** The positions of a word whose bits are off, each once: these prove that it was never added. */
export function witnesses(word: string, row: Row): number[] {
  const bits = bitsOf(row);
  return [...new Set(probesOf(word, row).map((probe) => probe.position))].filter((at) => !bits[at]);
}

/** The chance that all probes of a word never added meet bits that are on, as the row is now. */
export function chanceNow(row: Row): number {
  const on = bitsOf(row).filter(Boolean).length;
  return (on / row.size) ** row.probes;
}

/** The same as it is to be expected after `words` words: (1 − (1 − 1/m)^(kn))^k. */
export function expectedChance(row: Pick<Row, "size" | "probes">, words: number): number {
  return (1 - (1 - 1 / row.size) ** (row.probes * words)) ** row.probes;
}
