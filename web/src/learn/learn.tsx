/** Bloom filters by example: a row of bits to play with, then a chapter a choice. */

import { hashOf, linkTo } from "../ui/address";
import { useText } from "../ui/settings";
import { chapters, Lamps, numberOf } from "./chapter";
import { CostChapter } from "./cost_chapter";
import { FormulasChapter } from "./formulas_chapter";
import { GrowthChapter } from "./growth_chapter";
import { LineChapter } from "./line_chapter";
import { ProbesChapter } from "./probes_chapter";
import { RowPlay } from "./row_play";
import { SizeChapter } from "./size_chapter";
import { show, useChapter } from "./use_chapter";
import { WindowChapter } from "./window_chapter";

export function Learn() {
  const { learn } = useText();
  useChapter();
  return (
    <div class="learn">
      <div class="opening">
        <h1 tabIndex={-1}>{learn.title}</h1>
        <p class="lead">{learn.lead}</p>
      </div>
      <RowPlay />
      <nav class="contents" aria-label={learn.contents}>
        {chapters.map((name) => (
          <a key={name} href={hashOf("learn", name)} onClick={() => show(name)}>
            <Lamps number={numberOf(name)} />
            {learn[name].title}
          </a>
        ))}
      </nav>
      <SizeChapter />
      <ProbesChapter />
      <CostChapter />
      <LineChapter />
      <GrowthChapter />
      <WindowChapter />
      <FormulasChapter />
      <section class="onwards" aria-labelledby="onwards">
        <h2 id="onwards">{learn.onwards.title}</h2>
        <p>{learn.onwards.text}</p>
        <a class="button" href={linkTo("plan")}>
          {learn.onwards.plan}
        </a>
        <a class="button quiet" href={linkTo("watch")}>
          {learn.onwards.watch}
        </a>
      </section>
    </div>
  );
}
