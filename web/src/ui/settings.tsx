/** What the visitor chose, remembered in this browser: the language, which the address has as well, and the theme. */

import { createContext } from "preact";
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

import { texts } from "../text/texts";
import type { Text } from "../text/texts";
import { languageOfAddress, useLanguageInAddress } from "./address";
import type { Language } from "./format";

export type Theme = "auto" | "light" | "dark";

interface Settings {
  language: Language;
  setLanguage: (language: Language) => void;
  theme: Theme;
  setTheme: (theme: Theme) => void;
  /** Whether dark is what is seen, so that plots can draw in the colours of the page. */
  dark: boolean;
}

const SettingsContext = createContext<Settings | null>(null);

/**
 * A value that outlives the page. A browser that keeps nothing (private, or forbidden) only forgets it.
 * @param given  what the address says, which holds for this visit
 */
function useStored<T extends string>(
  key: string,
  first: T,
  allowed: readonly T[],
  given: string | null = null,
): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(
    () => [given, read(key)].map((each) => allowed.find((one) => one === each)).find((each) => each !== undefined) ?? first,
  );
  return [
    value,
    (next: T) => {
      setValue(next);
      write(key, next);
    },
  ];
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(`everseen.${key}`);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(`everseen.${key}`, value);
  } catch {
    // Nothing depends on it.
  }
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const changed = (): void => setMatches(list.matches);
    list.addEventListener("change", changed);
    return () => list.removeEventListener("change", changed);
  }, [query]);
  return matches;
}

export function useReducedMotion(): boolean {
  return useMedia("(prefers-reduced-motion: reduce)");
}

export function SettingsProvider({ children }: { children: ComponentChildren }) {
  const spoken: Language = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  const [language, setLanguage] = useStored<Language>("language", spoken, ["en", "zh"], languageOfAddress());
  useLanguageInAddress(language);
  const [theme, setTheme] = useStored<Theme>("theme", "auto", ["auto", "light", "dark"]);
  const darkOutside = useMedia("(prefers-color-scheme: dark)");
  const dark = theme === "auto" ? darkOutside : theme === "dark";
  const root = document.documentElement;
  root.lang = language === "zh" ? "zh-Hans" : "en";
  root.dataset.theme = dark ? "dark" : "light";
  return (
    <SettingsContext.Provider value={{ language, setLanguage, theme, setTheme, dark }}>{children}</SettingsContext.Provider>
  );
}

export function useSettings(): Settings {
  const settings = useContext(SettingsContext);
  if (!settings) throw new Error("useSettings outside of SettingsProvider");
  return settings;
}

export function useText(): Text {
  return texts[useSettings().language];
}
