/** Numbers as people read them, in the language of the page. */

export type Language = "en" | "zh";

const superscripts = [..."⁰¹²³⁴⁵⁶⁷⁸⁹"];

export function power10(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => superscripts[Number(digit)]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

/** 1,234 */
export function count(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}

const shortUnits = {
  en: [["quadrillion", 1e15], ["trillion", 1e12], ["billion", 1e9], ["million", 1e6]],
  zh: [["万亿", 1e12], ["亿", 1e8], ["万", 1e4]],
} as const;

/** 1.5 million, 15 亿 */
export function shortCount(n: number, language: Language): string {
  for (const [unit, size] of shortUnits[language])
    if (n >= size) return `${Number((n / size).toPrecision(3)).toLocaleString("en-US")} ${unit}`;
  return count(n);
}

/** 1 in 1,000 */
export function oneIn(n: number, language: Language): string {
  return `${language === "zh" ? "1 / " : "1 in "}${shortCount(n, language)}`;
}

/** A probability: 12 %, 0.45 %, 3.2 · 10⁻⁶, 0. */
export function chance(p: number): string {
  if (p >= 0.00095) return `${Number((p * 100).toPrecision(p >= 0.1 ? 3 : 2))} %`;
  return p > 0 ? scientific(p) : "0";
}

/** A share that changes with the seconds, so always as many digits: 40.0 %, 0.50 % */
export function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 2 : 1)} %`;
}

/** 3.2 · 10⁻⁶, 10⁻⁶ */
export function scientific(n: number): string {
  const exponent = Math.floor(Math.log10(n) + 1e-9);
  const digits = Number((n / 10 ** exponent).toPrecision(2));
  if (digits === 10) return power10(exponent + 1);
  return digits === 1 ? power10(exponent) : `${digits} · ${power10(exponent)}`;
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytes(n: number): string {
  let unit = 0;
  while (n >= 1024 && unit < byteUnits.length - 1) {
    n /= 1024;
    ++unit;
  }
  return `${Number(n.toPrecision(3)).toLocaleString("en-US")} ${byteUnits[unit]}`;
}

export function hex32(n: number): string {
  return `0x${n.toString(16).padStart(8, "0")}`;
}

export function hex64(n: bigint): string {
  return n.toString(16).padStart(16, "0");
}

/** A moment of a day, by the clock of the machine that shows it. */
export function timeOfDay(ms: number, language: Language): string {
  return new Date(ms).toLocaleTimeString(language === "zh" ? "zh-CN" : "en-GB");
}

/** What begins somewhere in a sentence, as a sentence of its own. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?。]$/.test(words) ? "" : "."}`;
}

/** 75 -> 1:15 */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
