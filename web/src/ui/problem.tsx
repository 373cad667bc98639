interface ProblemProps {
  words: string;
  detail: string;
  /** Whether the page has the detail in its own language, too. */
  isTranslated?: boolean;
}

/** What is wrong, in the words of the page, and why, in those of the server, which are English. */
export function Problem({ words, detail, isTranslated = false }: ProblemProps) {
  return (
    <p class="problem">
      {words} <span lang={isTranslated ? undefined : "en"}>{detail}</span>
    </p>
  );
}
