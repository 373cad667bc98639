/** The row, what is typed below it, and what is done to it. */

import { useState } from "preact/hooks";

import { add, probesOf, witnesses } from "../bloom/row";
import type { Row } from "../bloom/row";
import { firstWords, sampleWords } from "../text/words";
import { useSettings, useText } from "../ui/settings";

/** Which of the two inputs the row shows. */
export type Mode = "add" | "ask";

export interface RowState {
  row: Row;
  reshape: (part: Partial<Pick<Row, "size" | "probes">>) => void;
  typed: Record<Mode, string>;
  type: (where: Mode, value: string) => void;
  mode: Mode;
  setMode: (mode: Mode) => void;
  /** The word whose probes are shown; that which was just added, while nothing is typed. */
  word: string;
  news: string;
  /** What there is to say about the search for a word that fools the row: that there is none, or no other. */
  foolNote: string;
  addWord: (word: string) => void;
  addAny: () => void;
  fool: () => void;
  empty: () => void;
}

/** Each position of a word once, in order. */
export function positionsOf(word: string, row: Row): number[] {
  return [...new Set(probesOf(word, row).map((probe) => probe.position))].sort((a, b) => a - b);
}

export function useRow(): RowState {
  const text = useText().learn.row;
  const { language } = useSettings();
  const [row, setRow] = useState<Row>({ size: 15, probes: 2, words: firstWords[language] });
  const [typed, setTyped] = useState({ add: "", ask: "" });
  const [mode, setMode] = useState<Mode>("ask");
  const [lastAdded, setLastAdded] = useState("");
  const [news, setNews] = useState("");
  const [foolNote, setFoolNote] = useState("");
  const [lastFooling, setLastFooling] = useState("");

  const type = (where: Mode, value: string): void => {
    setMode(where);
    setTyped({ ...typed, [where]: value });
    setLastAdded("");
    setNews("");
    setFoolNote("");
  };
  const addWord = (word: string): void => {
    if (!word) return;
    const known = row.words.includes(word);
    type("add", "");
    setRow(add(row, word));
    setLastAdded(word);
    setNews(known ? text.already(word) : text.added(word, text.bits(positionsOf(word, row))));
  };
  const addAny = (): void => {
    const left = sampleWords[language].filter((sample) => !row.words.includes(sample));
    addWord(left[Math.floor(Math.random() * left.length)] ?? "");
  };
  const fool = (): void => {
    const all = [...sampleWords[language], ...sampleWords[language === "en" ? "zh" : "en"]];
    // Each press goes on behind the word before, so that it finds another one.
    const start = all.indexOf(lastFooling) + 1;
    const order = [...all.slice(start), ...all.slice(0, start)];
    const fooling = order.find((sample) => !row.words.includes(sample) && witnesses(sample, row).length === 0) ?? "";
    type("ask", fooling);
    setLastFooling(fooling);
    if (!fooling) setFoolNote(text.fooledNot);
    else if (fooling === lastFooling && fooling === typed.ask) setFoolNote(text.fooledOnly);
  };
  const empty = (): void => {
    setRow({ ...row, words: [] });
    setLastAdded("");
    setNews(text.emptied);
  };
  const word = typed[mode] || (mode === "add" ? lastAdded : "");
  const reshape = (part: Partial<Row>): void => setRow({ ...row, ...part });
  return { row, reshape, typed, type, mode, setMode, word, news, foolNote, addWord, addAny, fool, empty };
}
