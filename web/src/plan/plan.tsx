/** What a filter would cost: the sliders, and the answers of the program's own planner. */

import { useState } from "preact/hooks";

import { layouts } from "../bloom/rates";
import { bytes, chance, shortCount } from "../ui/format";
import { Command } from "../ui/copy";
import { useSettings, useText } from "../ui/settings";
import { Slider } from "../ui/slider";
import { PlanCurve } from "./plan_curve";
import { PlanTable } from "./plan_table";
import { usePlan } from "./use_plan";
import type { Wish } from "./use_plan";

const mostProbes = 32;

interface WishesProps {
  wish: Wish;
  change: (part: Partial<Wish>) => void;
}

export function Plan() {
  const { plan: text } = useText();
  const [wish, setWish] = useState<Wish>({
    keys: 1e7,
    by: "rate",
    rate: 1e-3,
    bits: 16,
    layout: "",
    probes: 0,
    values: 1e10,
    redis: false,
  });
  const { answer, problem } = usePlan(wish);
  return (
    <div class="planner">
      <div class="page-head">
        <h1 tabIndex={-1}>{text.title}</h1>
        <p class="lead">{text.lead}</p>
      </div>
      <div class="plan-grid">
        <Wishes wish={wish} change={(part) => setWish({ ...wish, ...part })} />
        <div class="card plan-answer" aria-busy={!answer}>
          {problem && (
            <p class="problem" role="alert">
              {problem === "away" ? text.away : problem}
            </p>
          )}
          {!answer && !problem && <p class="hint">{text.working}</p>}
          {answer && (
            <>
              <PlanTable answer={answer} />
              {answer.bytes_when_growing !== undefined && (
                <p class="hint">{text.growing(bytes(answer.bytes_when_growing))}</p>
              )}
              <h2>{text.command}</h2>
              <Command line={answer.command} />
              <h2>{text.curve}</h2>
              <PlanCurve answer={answer} />
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function Wishes({ wish, change }: WishesProps) {
  const { plan: text } = useText();
  const { language } = useSettings();
  const short = (n: number): string => shortCount(n, language);
  return (
    <form class="card wishes" onSubmit={(event) => event.preventDefault()}>
      <Slider
        label={text.keys}
        value={wish.keys}
        min={1e3}
        max={1e11}
        step={10}
        scale="log"
        format={short}
        onInput={(keys) => change({ keys: Math.round(keys) })}
      />
      <fieldset class="either">
        <legend>{text.goal}</legend>
        {(["rate", "bits"] as const).map((by) => (
          <label key={by}>
            <input type="radio" name="by" checked={wish.by === by} onChange={() => change({ by })} />
            {by === "rate" ? text.byRate : text.byMemory}
          </label>
        ))}
      </fieldset>
      {wish.by === "rate" ? (
        <Slider
          label={text.rate}
          value={wish.rate}
          min={1e-12}
          max={0.1}
          step={10}
          scale="log"
          format={chance}
          onInput={(rate) => change({ rate })}
        />
      ) : (
        <Slider
          label={text.bits}
          value={wish.bits}
          min={4}
          max={64}
          step={0.5}
          format={String}
          onInput={(bits) => change({ bits })}
        />
      )}
      <div class="choice">
        <label for="layout">{text.layout}</label>
        <select
          id="layout"
          value={wish.layout}
          onChange={(event) => change({ layout: event.currentTarget.value as Wish["layout"] })}
        >
          <option value="">{text.picked}</option>
          {layouts.map((layout) => (
            <option key={layout}>{layout}</option>
          ))}
        </select>
      </div>
      <Slider
        label={text.probes}
        value={wish.probes}
        min={0}
        max={mostProbes}
        step={1}
        format={(n) => (n === 0 ? text.bestProbes : String(n))}
        onInput={(probes) => change({ probes })}
      />
      <Slider
        label={text.values}
        value={wish.values}
        min={1e4}
        max={1e15}
        step={10}
        scale="log"
        format={short}
        onInput={(values) => change({ values: Math.round(values) })}
      />
      <label class="tick">
        <input type="checkbox" checked={wish.redis} onChange={(event) => change({ redis: event.currentTarget.checked })} />
        <span>{text.redis}</span>
      </label>
    </form>
  );
}
