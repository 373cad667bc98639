import type { PlanAnswer } from "../api";
import { layouts } from "../bloom/rates";
import { shortCount } from "../ui/format";
import { Quantity } from "../ui/quantity";
import { useSettings, useText } from "../ui/settings";
import { boundsOf, layoutOf, unknowns } from "./requested_options";
import type { Refusals, Unknown, RequestedOptions, RequestedNumber } from "./requested_options";

interface OptionsFormProps {
  options: RequestedOptions;
  change: (part: Partial<RequestedOptions>) => void;
  refusals: Refusals;
  answer: PlanAnswer | null;
}

/** The value that was found before becomes a given one, so that the figures stay as they are. */
function foundBefore(find: Unknown, answer: PlanAnswer | null): Partial<RequestedOptions> {
  const picked = answer?.structures.find((row) => row.structure === answer.picked);
  if (!picked) return {};
  if (find === "keys") return { keys: picked.keys };
  if (find === "bits") return { bits: picked.bytes * 8 };
  if (find === "error_rate") return { error_rate: Math.min(0.5, Math.max(1e-15, Number(picked.error_rate.toPrecision(3)))) };
  return { probes: picked.probes };
}

/** The given numbers, and the choice of the one to find. */
export function OptionsForm({ options, change, refusals, answer }: OptionsFormProps) {
  const { plan: text } = useText();
  const { language } = useSettings();
  const number = (name: RequestedNumber) => (
    <Quantity
      key={name}
      label={text.quantities[name]}
      {...boundsOf[name]}
      value={options[name]}
      refused={refusals.numbers[name]}
      note={name === "values" && options.values < options.keys ? text.valuesRaised(shortCount(options.keys, language)) : undefined}
      format={name === "probes" ? (n) => (n === 0 ? text.bestProbes : String(n)) : undefined}
      onInput={(value) => change({ [name]: name === "error_rate" ? value : Math.round(value) })}
    />
  );
  const layout = layoutOf(options);
  const isForced = layout === "classic" && layout !== options.layout;
  return (
    <form class="card options" onSubmit={(event) => event.preventDefault()}>
      {refusals.others.length > 0 && (
        <p class="problem" role="status">
          {text.addressRefused(refusals.others.join(", "))}
        </p>
      )}
      <fieldset class="find">
        <legend>{text.find}</legend>
        {unknowns.map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="find"
              checked={options.find === name}
              onChange={() => change({ ...foundBefore(options.find, answer), find: name })}
            />
            <span>
              {text.finds[name]} <i>{text.letters[name]}</i>
            </span>
          </label>
        ))}
      </fieldset>
      {unknowns.filter((name) => name !== options.find).map(number)}
      <div class="choice">
        <label for="layout">{text.layout}</label>
        <select
          id="layout"
          value={layout}
          disabled={options.find === "probes"}
          aria-describedby={isForced ? "layout-forced" : undefined}
          onChange={(event) => change({ layout: event.currentTarget.value as RequestedOptions["layout"], probes: 0 })}
        >
          <option value="">{text.picked}</option>
          {layouts.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        {isForced && (
          <p id="layout-forced" class="hint">
            {text.onlyClassic}
          </p>
        )}
      </div>
      {options.find !== "keys" && number("values")}
    </form>
  );
}
