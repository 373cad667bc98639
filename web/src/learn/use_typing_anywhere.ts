import { useEffect } from "preact/hooks";

/** Letters that are typed while nothing on the page has the focus go into this input: a visitor need not look for it. */
export function useTypingAnywhere(id: string): void {
  useEffect(() => {
    const typed = (event: KeyboardEvent): void => {
      const free = event.target === document.body || event.target === document.querySelector("main h1");
      const isLetter = /^[\p{L}\p{N}]$/u.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey;
      // The letter itself follows the focus.
      if (free && isLetter) document.getElementById(id)?.focus();
    };
    addEventListener("keydown", typed);
    return () => removeEventListener("keydown", typed);
  }, [id]);
}
