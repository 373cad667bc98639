/** The two hash functions of the row of bits. Both take the bytes of a word in UTF-8 and give 32 bits. */

const encoder = new TextEncoder();

export function bytesOf(word: string): Uint8Array {
  return encoder.encode(word);
}

/** FNV-1a: each byte is mixed in by exclusive or, then all is multiplied by a prime. */
export function fnv1a(word: string): number {
  let hash = 0x811c9dc5;
  for (const byte of bytesOf(word)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

function rotateLeft(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by));
}

function scramble(block: number): number {
  return Math.imul(rotateLeft(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
}

/** MurmurHash3 for x86 with 32 bits: four bytes at a time, then the rest, then an avalanche. */
export function murmur3(word: string, seed = 0): number {
  const bytes = bytesOf(word);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const whole = bytes.length & ~3;
  let hash = seed;
  for (let at = 0; at < whole; at += 4)
    hash = Math.imul(rotateLeft(hash ^ scramble(view.getUint32(at, true)), 13), 5) + 0xe6546b64;
  let rest = 0;
  for (let at = bytes.length - 1; at >= whole; --at) rest = (rest << 8) | bytes[at];
  hash ^= scramble(rest) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
