/** One line of layout 8x64, as in doc/hashing.md: the line is reduce(low, lines), and word w gets bit (high ≫ 6w) mod 64. */

import type { Digest } from "./siphash";

export const wordsPerLine = 8;
export const bitsPerWord = 64;

export interface LineBits {
  line: number;
  bits: number[]; // one a word, 0 the lowest
}

export function lineBitsOf(digest: Digest, lines: number): LineBits {
  const line = Number((digest.low * BigInt(lines)) >> 64n);
  const bits = Array.from({ length: wordsPerLine }, (_, w) => Number((digest.high >> BigInt(6 * w)) & 63n));
  return { line, bits };
}

/** Bit b of the word that begins at byte i is position 8 · (i + ⌊b / 8⌋) + 7 − b mod 8 of the segment. */
export function positionOf(line: number, word: number, bit: number): number {
  const byte = 64 * line + 8 * word + Math.floor(bit / 8);
  return 8 * byte + 7 - (bit % 8);
}

/** Lines that can be asked and added to. lines[l][w] is the set of bits of a word that are on. */
export class LineFilter {
  private readonly words: Set<number>[][];

  constructor(readonly lines: number, added: readonly Digest[] = []) {
    this.words = Array.from({ length: lines }, () => Array.from({ length: wordsPerLine }, () => new Set<number>()));
    for (const digest of added) {
      const { line, bits } = lineBitsOf(digest, lines);
      bits.forEach((bit, word) => this.words[line][word].add(bit));
    }
  }

  isOn(line: number, word: number, bit: number): boolean {
    return this.words[line][word].has(bit);
  }

  onIn(line: number): number {
    return this.words[line].reduce((sum, word) => sum + word.size, 0);
  }

  mayContain(digest: Digest): boolean {
    const { line, bits } = lineBitsOf(digest, this.lines);
    return bits.every((bit, word) => this.isOn(line, word, bit));
  }

  /** The chance that a key never added finds its eight bits on, as the lines are now. */
  chanceNow(): number {
    const each = this.words.map((line) => line.reduce((chance, word) => (chance * word.size) / bitsPerWord, 1));
    return each.reduce((sum, chance) => sum + chance, 0) / this.lines;
  }
}
