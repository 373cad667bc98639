/** What is wrong, in the words of the page, and why, in those of the server, which are English. */
export function Problem({ words, detail }: { words: string; detail: string }) {
  return (
    <p class="problem">
      {words} <span lang="en">{detail}</span>
    </p>
  );
}
