/** Why a text is not taken as a quantity, as a word that text/shell.ts explains. */

import type { Kind } from "./quantities";

export type Fault =
  | "empty"
  | "negative"
  | "fraction"
  | "comma"
  | "blank"
  | "unit"
  | "rateUnit"
  | "whole"
  | "number"
  | "small"
  | "large";

/** A number with its exponent, and what follows it. */
const numberAndRest = /^((?:\d[\d,_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)$/;

/** @returns null for a text that is taken */
export function faultOf(kind: Kind, text: string, least: number, most: number): Fault | null {
  const value = kind.read(text);
  if (value === null) return unreadable(kind, text.trim());
  if (value < least) return "small";
  return value > most ? "large" : null;
}

function unreadable(kind: Kind, text: string): Fault {
  if (text === "") return "empty";
  if (/^[-−]\s*[\d.]/.test(text)) return "negative";
  if (/\d\s*\/\s*\d/.test(text)) return "fraction";
  if (/\s/.test(text) && kind.read(text.replace(/\s/g, "")) !== null) return "blank";
  const [, digits, rest] = numberAndRest.exec(text) ?? [];
  if (digits === undefined) return "number";
  // A comma that begins decimals is one, too.
  if (/[,_]/.test(digits) && kind.read(digits) === null) return "comma";
  if (rest.trim() !== "") return isUnit(rest) ? (kind.isRate ? "rateUnit" : "unit") : "number";
  if (!Number.isFinite(Number(digits))) return "large";
  return Number.isInteger(Number(digits)) ? "number" : "whole";
}

/** Letters or a sign, as in 10 million, 5% or 1万; not the rest of a number that ends too early, as in 1e. */
function isUnit(rest: string): boolean {
  return /^\s*[\p{L}%‰]+$/u.test(rest) && !/^e$/i.test(rest);
}
