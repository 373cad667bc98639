import type { ComponentChildren } from "preact";

/** The chapters after the row, in order. */
export const chapters = ["size", "probes", "cost", "line", "growth", "window", "formulas"] as const;
export type ChapterName = (typeof chapters)[number];

/** The row of bits is the first. */
export function numberOf(name: ChapterName): number {
  return chapters.indexOf(name) + 2;
}

/** The values of the lamps that the highest number needs, the greatest first. */
const bits = [8, 4, 2, 1];

/** The number of a chapter as lamps, that is, in bits. */
export function Lamps({ number }: { number: number }) {
  return (
    <span class="lamps" aria-hidden="true">
      {bits.map((bit) => (
        <i key={bit} class={number & bit ? "on" : ""} />
      ))}
    </span>
  );
}

export function headingOf(name: ChapterName): HTMLElement | null {
  return document.getElementById(`chapter-${name}`);
}

interface ChapterProps {
  name: ChapterName;
  title: string;
  text: ComponentChildren;
  children: ComponentChildren;
}

/** A chapter: what it is about, and something to move. */
export function Chapter({ name, title, text, children }: ChapterProps) {
  const id = `chapter-${name}`;
  return (
    <section class="chapter" aria-labelledby={id}>
      <div class="chapter-text">
        <h2 id={id} tabIndex={-1}>
          <Lamps number={numberOf(name)} />
          {title}
        </h2>
        <p>{text}</p>
      </div>
      <div class={`panel ${name}`}>{children}</div>
    </section>
  );
}
