/** The frame: name, pages, language and theme. The page in front is the part of the address after #; /docs is a file of its own. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { Docs } from "./docs/docs";
import { Learn } from "./learn/learn";
import { Plan } from "./plan/plan";
import { linkTo, remember, usePlace } from "./ui/address";
import { useSettings, useText } from "./ui/settings";
import type { Theme } from "./ui/settings";
import { Watch } from "./watch/watch";

const pages = ["learn", "plan", "watch"] as const;
export type PageName = (typeof pages)[number] | "docs";

const isDocs = location.pathname === "/docs";

/** The page in front. When it changes, its heading gets the reader's focus. */
function usePage(): PageName {
  const place = usePlace();
  const page = isDocs ? "docs" : (pages.find((each) => each === place.page) ?? "learn");
  const first = useRef(true);
  // Before the page looks where it stands: the browser may have put it back where its reader was.
  useLayoutEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    scrollTo(0, 0);
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [page]);
  if (!isDocs) remember(page);
  return page;
}

export function Shell() {
  const page = usePage();
  const { shell } = useText();
  useEffect(() => {
    document.title = `${shell[page]} · everseen`;
  }, [page, shell]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>("main h1")?.focus()}>
        {shell.skip}
      </button>
      <header class="top">
        <a class="name" href={linkTo("learn", true)} aria-label={`everseen: ${shell.tagline}`}>
          <svg viewBox="0 0 56 20" aria-hidden="true">
            <circle cx="10" cy="10" r="5" />
            <circle cx="28" cy="10" r="7" class="lit" />
            <circle cx="46" cy="10" r="5" />
          </svg>
          everseen
        </a>
        <nav aria-label={shell.pages}>
          {pages.map((name) => (
            <a key={name} href={linkTo(name, name === page)} aria-current={name === page ? "page" : undefined}>
              {shell[name]}
            </a>
          ))}
          <a href={`/docs${location.search}`} aria-current={isDocs ? "page" : undefined}>
            {shell.docs}
          </a>
        </nav>
        <Choices />
      </header>
      <main>
        {page === "learn" && <Learn />}
        {page === "plan" && <Plan />}
        {page === "watch" && <Watch />}
        {page === "docs" && <Docs />}
      </main>
      <footer class="bottom">
        <span>everseen · {shell.tagline}</span>
        <a href="/licences.txt">{shell.licences}</a>
      </footer>
    </>
  );
}

const nextTheme: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

function Choices() {
  const { language, setLanguage, theme, setTheme } = useSettings();
  const { shell } = useText();
  return (
    <div class="choices">
      <button
        type="button"
        class="round wide"
        lang={language === "en" ? "zh-Hans" : "en"}
        onClick={() => setLanguage(language === "en" ? "zh" : "en")}
      >
        {language === "en" ? "中文" : "English"}
      </button>
      <button
        type="button"
        class="round"
        aria-label={`${shell.theme}: ${shell.themes[theme]}`}
        title={`${shell.theme}: ${shell.themes[theme]}`}
        onClick={() => setTheme(nextTheme[theme])}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <circle cx="10" cy="10" r="7" class="ring" />
          {theme === "auto" && <path d="M10 3a7 7 0 0 1 0 14z" />}
          {theme === "dark" && <circle cx="10" cy="10" r="7" />}
        </svg>
      </button>
    </div>
  );
}
