/**
 * SipHash-2-4 with 128 bits: the hash of everseen's filters made with `--hash siphash`, so that the page shows the very
 * line and bits that the program would take. In BigInt: a word a keystroke is all it has to hash.
 */

import { bytesOf } from "./hashes";

export interface Digest {
  low: bigint;
  high: bigint;
}

/** A seed as an example has it: 00 01 02 … 0f. A real filter's is random and secret. */
export const exampleSeed = Uint8Array.from({ length: 16 }, (_, i) => i);

const word64 = (x: bigint): bigint => BigInt.asUintN(64, x);
const rotate = (x: bigint, by: bigint): bigint => word64(x << by) | (x >> (64n - by));

class State {
  private v: [bigint, bigint, bigint, bigint];

  constructor(k0: bigint, k1: bigint) {
    this.v = [
      k0 ^ 0x736f6d6570736575n,
      k1 ^ 0x646f72616e646f6dn ^ 0xeen, // 0xee: asked for 128 bits
      k0 ^ 0x6c7967656e657261n,
      k1 ^ 0x7465646279746573n,
    ];
  }

  private round(): void {
    let [a, b, c, d] = this.v;
    a = word64(a + b);
    b = rotate(b, 13n) ^ a;
    a = rotate(a, 32n);
    c = word64(c + d);
    d = rotate(d, 16n) ^ c;
    a = word64(a + d);
    d = rotate(d, 21n) ^ a;
    c = word64(c + b);
    b = rotate(b, 17n) ^ c;
    c = rotate(c, 32n);
    this.v = [a, b, c, d];
  }

  absorb(block: bigint): void {
    this.v[3] ^= block;
    this.round();
    this.round();
    this.v[0] ^= block;
  }

  /** Half of the digest; `mark` tells the halves apart. */
  squeeze(lane: 1 | 2, mark: bigint): bigint {
    this.v[lane] ^= mark;
    for (let i = 0; i < 4; ++i) this.round();
    return this.v[0] ^ this.v[1] ^ this.v[2] ^ this.v[3];
  }
}

export function siphash128(word: string, seed: Uint8Array = exampleSeed): Digest {
  const bytes = bytesOf(word);
  const key = new DataView(seed.buffer, seed.byteOffset, 16);
  const state = new State(key.getBigUint64(0, true), key.getBigUint64(8, true));
  // The last block holds what is left over and, on top, the length modulo 256.
  const padded = new DataView(new ArrayBuffer((bytes.length & ~7) + 8));
  bytes.forEach((byte, at) => padded.setUint8(at, byte));
  padded.setUint8(padded.byteLength - 1, bytes.length & 0xff);
  for (let at = 0; at < padded.byteLength; at += 8) state.absorb(padded.getBigUint64(at, true));
  const low = state.squeeze(2, 0xeen);
  return { low, high: state.squeeze(1, 0xddn) };
}
