import { useEffect } from "preact/hooks";

/**
 * Where a keyboard covers half of a phone, the browser moves what is typed into view, and things that stick to the top of the page
 * are above the top of what is seen. This says how far, and how little is left, to the styles.
 */
export function useRowInView(): void {
  useEffect(() => {
    const seen = visualViewport;
    if (!seen) return;
    const root = document.documentElement;
    const changed = (): void => {
      root.style.setProperty("--above-view", `${Math.max(0, seen.offsetTop)}px`);
      root.dataset.low = String(seen.height * seen.scale < 480);
    };
    changed();
    const events = ["resize", "scroll"];
    events.forEach((event) => seen.addEventListener(event, changed));
    return () => {
      events.forEach((event) => seen.removeEventListener(event, changed));
      root.style.removeProperty("--above-view");
      delete root.dataset.low;
    };
  }, []);
}
