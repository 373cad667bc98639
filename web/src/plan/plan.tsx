/** What a filter would cost: the sliders, and the answers of the program's own planner. */

import { useState } from "preact/hooks";

import { layouts } from "../bloom/rates";
import { bytes, chance, shortCount } from "../ui/format";
import { Command } from "../ui/copy";
import { Quantity } from "../ui/quantity";
import { useSettings, useText } from "../ui/settings";
import { TokenForm } from "../ui/token_form";
import { PlanCurve } from "./plan_curve";
import { PlanPicked, PlanTable } from "./plan_table";
import { usePlan } from "./use_plan";
import type { Planned, Wish } from "./use_plan";

/** As the planner has it. */
const mostKeys = 2 ** 48;
const mostProbes = 64;

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
  const [tries, setTries] = useState(0);
  const { answer, problem } = usePlan(wish, tries);
  return (
    <div class="planner">
      <div class="page-head">
        <h1 tabIndex={-1}>{text.title}</h1>
        <p class="lead">{text.lead}</p>
      </div>
      {problem === "locked" ? (
        <TokenForm retry={() => setTries(tries + 1)} />
      ) : (
        <div class="plan-grid">
          <Wishes wish={wish} change={(part) => setWish({ ...wish, ...part })} />
          <Answers answer={answer} problem={problem} />
        </div>
      )}
    </div>
  );
}

function Answers({ answer, problem }: Planned) {
  const { plan: text } = useText();
  return (
    <>
      <div class="card plan-picked" role="status" aria-busy={!answer}>
        {problem && <p class="problem">{problem === "away" ? text.away : problem}</p>}
        {!answer && !problem && <p class="hint">{text.working}</p>}
        {answer && <PlanPicked answer={answer} />}
      </div>
      {answer && (
        <div class="card plan-answer">
          <PlanTable answer={answer} />
          {answer.bytes_when_growing !== undefined && <p class="hint">{text.growing(bytes(answer.bytes_when_growing))}</p>}
          <h2>{text.command}</h2>
          <Command line={answer.command} />
          <h2>{text.curve}</h2>
          <PlanCurve answer={answer} />
        </div>
      )}
    </>
  );
}

function Wishes({ wish, change }: WishesProps) {
  const { plan: text } = useText();
  const { language } = useSettings();
  const short = (n: number): string => shortCount(n, language);
  return (
    <form class="card wishes" onSubmit={(event) => event.preventDefault()}>
      <Quantity
        label={text.keys}
        kind="count"
        value={wish.keys}
        min={1e3}
        max={1e11}
        least={1}
        most={mostKeys}
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
        <Quantity
          label={text.rate}
          kind="rate"
          value={wish.rate}
          min={1e-12}
          max={0.1}
          least={1e-15}
          most={0.5}
          format={chance}
          onInput={(rate) => change({ rate })}
        />
      ) : (
        <Quantity
          label={text.bits}
          kind="halves"
          value={wish.bits}
          min={4}
          max={64}
          least={0.5}
          most={4096}
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
      <Quantity
        label={text.probes}
        kind="whole"
        value={wish.probes}
        min={0}
        max={mostProbes}
        format={(n) => (n === 0 ? text.bestProbes : String(n))}
        onInput={(probes) => change({ probes })}
      />
      <Quantity
        label={text.values}
        kind="count"
        value={wish.values}
        min={1e4}
        max={1e14}
        least={1}
        most={mostKeys}
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
