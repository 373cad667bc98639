/**
 * Numbers as people type them, read as the program's command line reads them (everseen/text/numbers.hpp): 1000000, 1,000,000,
 * 1_000_000, 1e6, 10M, 64Ki, 1MB, 64MiB; 0.001, 1e-3, 0.1%.
 */

import { bytes, chance, clock, oneIn, shortCount } from "./format";
import type { Language } from "./format";

const units: Record<string, number> = {
  "": 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Groups have three digits, so 1,5 is no number. */
const whole = String.raw`\d{1,3}(?:,\d{3})+|\d{1,3}(?:_\d{3})+|\d+`;
const countForm = new RegExp(String.raw`^((?:${whole})(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?([kKMGT]i?)?(B?)$`);
const rateForm = /^((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%?)$/i;

/** A whole number, or null. A B for bytes may follow. */
export function readCount(text: string): number | null {
  const found = countForm.exec(text.trim());
  const unit = found && units[found[3] ?? ""];
  if (!unit) return null;
  const value = Number(found[1].replace(/[,_]/g, "") + (found[2] ?? "")) * unit;
  // 0.3G is a whole number, though its product here may miss it by the last bit.
  const rounded = Math.round(value);
  return Math.abs(value - rounded) <= value * Number.EPSILON ? rounded : null;
}

/** Bits: as they are, or bytes, which have a B. */
export function readBits(text: string): number | null {
  const value = readCount(text);
  return value !== null && text.trim().endsWith("B") ? value * 8 : value;
}

/** A probability to three digits, which is what commands are written with; or null. */
export function readRate(text: string): number | null {
  const found = rateForm.exec(text.trim().replace(/\s+%$/, "%"));
  return found && Number((Number(found[1]) / (found[2] ? 100 : 1)).toPrecision(3));
}

/** One in how many: 1 in 1000, 1000, or a rate. */
export function readOneIn(text: string): number | null {
  const words = /^1\s*(?:in|\/|:)\s*(.+)$/.exec(text.trim());
  const rate = words ? null : readRate(text);
  if (rate !== null && rate > 0 && rate < 1) return 1 / rate;
  return readCount(words ? words[1] : text);
}

/** Seconds: 150, 2:30. */
export function readClock(text: string): number | null {
  const found = /^(?:(\d+):([0-5]\d)|(\d+))$/.exec(text.trim());
  if (!found) return null;
  return found[3] === undefined ? Number(found[1]) * 60 + Number(found[2]) : Number(found[3]);
}

/** The shortest text that readCount reads back: 10M, 1.5G, 12345678. */
export function writeCount(value: number): string {
  for (const unit of ["T", "G", "M", "k"]) {
    const short = `${Number((value / units[unit]).toPrecision(4))}${unit}`;
    if (value >= 10 * units.k && value >= units[unit] && readCount(short) === value) return short;
  }
  return String(value);
}

/** The shortest text that readBits reads back: 64MiB, 1.5MB, 100M. */
export function writeBits(bits: number): string {
  for (const unit of ["Ti", "Gi", "Mi", "Ki", "T", "G", "M", "k"]) {
    const short = `${Number((bits / 8 / units[unit]).toPrecision(4))}${unit}B`;
    if (bits / 8 >= units[unit] && readBits(short) === bits) return short;
  }
  return writeCount(bits);
}

/** The shortest text that readRate reads back: 0.001, 1e-6. */
export function writeRate(value: number): string {
  return value >= 1e-3 ? String(value) : value.toExponential().replace("e-0", "e-");
}

/** A kind of quantity: how it is typed and said, and how a slider goes through it. */
export interface Kind {
  read: (text: string) => number | null;
  write: (value: number) => string;
  say: (value: number, language: Language) => string;
  /** Linear: each step adds. Log: each step multiplies, `step` of them a power of ten. */
  scale: "linear" | "log";
  step: number;
  /** What to type, in a message to who typed something else; "" where the bounds say it. */
  example: string;
  /** Whether it is a share, which has no unit but %. */
  isRate?: boolean;
}

export const kinds = {
  count: { read: readCount, write: writeCount, say: shortCount, scale: "log", step: 10, example: "1000, 10M, 1e9" },
  bits: { read: readBits, write: writeBits, say: (n) => bytes(n / 8), scale: "log", step: 10, example: "64MiB, 1.5MB, 1e9" },
  rate: { read: readRate, write: writeRate, say: chance, scale: "log", step: 10, example: "0.001, 0.1%, 1e-6", isRate: true },
  oneIn: { read: readOneIn, write: writeCount, say: oneIn, scale: "log", step: 10, example: "1000, 10M, 1e-6" },
  whole: { read: readCount, write: String, say: String, scale: "linear", step: 1, example: "" },
  time: { read: readClock, write: clock, say: clock, scale: "linear", step: 6, example: "2:30" },
} satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

/** The value some steps of the slider further, on the slider's own steps. */
export function stepped(kind: Kind, value: number, steps: number): number {
  if (kind.scale === "linear") return (Math.round(value / kind.step) + steps) * kind.step;
  return fromTravel(kind, (Math.round(Math.log10(value) * kind.step) + steps) / kind.step);
}

/** Where a value is on its slider. */
export function travelOf(kind: Kind, value: number): number {
  return kind.scale === "log" ? Math.log10(value) : value;
}

export function fromTravel(kind: Kind, travel: number): number {
  return kind.scale === "log" ? Number((10 ** travel).toPrecision(3)) : travel;
}
