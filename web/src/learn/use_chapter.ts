/** Which chapter is read, kept in step with the address. */

import { useEffect, useRef } from "preact/hooks";

import { hashOf, settleAt, settleMs, usePlace } from "../ui/address";
import { chapters, headingOf } from "./chapter";
import type { ChapterName } from "./chapter";

/** Scrolls to a chapter, and gives it the focus. */
export function show(name: ChapterName): void {
  const heading = headingOf(name);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  heading?.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  heading?.focus({ preventScroll: true });
}

/** The last chapter whose heading has passed the middle of the window; "" before the first. */
function chapterInView(): string {
  const above = chapters.filter((name) => (headingOf(name)?.getBoundingClientRect().top ?? Infinity) < innerHeight / 2);
  return above[above.length - 1] ?? "";
}

/** Goes to the chapter of the address, and writes the chapter that the reader scrolls to into it. */
export function useChapter(): void {
  const { detail } = usePlace();
  const written = useRef<string | null>(null); // what scrolling has written: not a place to scroll back to
  useEffect(() => {
    const name = chapters.find((each) => each === detail);
    const isWritten = (name ?? "") === written.current;
    written.current = null;
    if (isWritten || (name ?? "") === chapterInView()) return;
    if (name === undefined) return scrollTo(0, 0);
    // Letters that arrive later move all that is below them.
    let wanted = true;
    void document.fonts.ready.then(() => wanted && show(name));
    return () => {
      wanted = false;
    };
  }, [detail]);
  useEffect(() => {
    let timer = 0;
    const scrolled = (): void => {
      clearTimeout(timer);
      const scrolledAt = location.href;
      timer = window.setTimeout(() => {
        if (location.href !== scrolledAt) return; // gone elsewhere meanwhile, whose address this is not
        written.current = chapterInView();
        settleAt(hashOf("learn", written.current));
      }, settleMs);
    };
    addEventListener("scroll", scrolled, { passive: true });
    return () => {
      clearTimeout(timer);
      removeEventListener("scroll", scrolled);
    };
  }, []);
}
