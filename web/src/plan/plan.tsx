/** What a filter would cost: any three of keys, memory, error rate and probes, and the planner's answer for the fourth. */

import { useState } from "preact/hooks";

import { bytes } from "../ui/format";
import { Command } from "../ui/copy";
import { Problem } from "../ui/problem";
import { useText } from "../ui/settings";
import { TokenForm } from "../ui/token_form";
import { PlanCurve } from "./plan_curve";
import { PlanPicked } from "./plan_picked";
import { PlanTable } from "./plan_table";
import { usePlan } from "./use_plan";
import type { Planned } from "./use_plan";
import { useRequestedOptions } from "./use_requested_options";
import { planAddress } from "./requested_options";
import type { RequestedOptions } from "./requested_options";
import { OptionsForm } from "./options_form";

export function Plan() {
  const { plan: text } = useText();
  const { options, change, refusals } = useRequestedOptions();
  const [tries, setTries] = useState(0);
  const planned = usePlan(planAddress(options), tries);
  return (
    <div class="planner">
      <div class="page-head">
        <h1 tabIndex={-1}>{text.title}</h1>
        <p class="lead">{text.lead}</p>
      </div>
      {planned.problem === "locked" ? (
        <TokenForm retry={() => setTries(tries + 1)} />
      ) : (
        <div class="plan-grid">
          <OptionsForm options={options} change={change} refusals={refusals} answer={planned.answer} />
          <Answers options={options} planned={planned} />
        </div>
      )}
    </div>
  );
}

function Answers({ options, planned: { answer, problem } }: { options: RequestedOptions; planned: Planned }) {
  const { plan: text } = useText();
  return (
    <>
      <div class="card plan-picked" role="status" aria-busy={!answer}>
        {problem === "away" && <p class="problem">{text.away}</p>}
        {problem && problem !== "away" && <Problem words={text.impossible} detail={text.refusal(problem)} isTranslated={text.refusal(problem) !== problem} />}
        {!answer && !problem && <p class="hint">{text.working}</p>}
        {answer && <PlanPicked find={options.find} answer={answer} />}
      </div>
      {answer && (
        <div class="card plan-answer">
          <h2>{text.compare}</h2>
          <PlanTable find={options.find} answer={answer} />
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
