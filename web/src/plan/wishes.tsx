import type { PlanAnswer } from "../api";
import { layouts } from "../bloom/rates";
import { Quantity } from "../ui/quantity";
import { useText } from "../ui/settings";
import { boundsOf, layoutOf, unknowns } from "./wish";
import type { Unknown, Wish, WishedNumber } from "./wish";

interface WishesProps {
  wish: Wish;
  change: (part: Partial<Wish>) => void;
  answer: PlanAnswer | null;
}

/** What was found before becomes given, so that the figures stay as they are. */
function foundBefore(find: Unknown, answer: PlanAnswer | null): Partial<Wish> {
  const picked = answer?.structures.find((row) => row.structure === answer.picked);
  if (!picked) return {};
  if (find === "keys") return { keys: picked.keys };
  if (find === "bits") return { bits: picked.bytes * 8 };
  if (find === "error_rate") return { error_rate: Math.min(0.5, Math.max(1e-15, Number(picked.error_rate.toPrecision(3)))) };
  return { probes: picked.probes };
}

/** What is given, and which of the four is to be found. */
export function Wishes({ wish, change, answer }: WishesProps) {
  const { plan: text } = useText();
  const number = (name: WishedNumber) => (
    <Quantity
      key={name}
      label={text.quantities[name]}
      {...boundsOf[name]}
      value={wish[name]}
      format={name === "probes" ? (n) => (n === 0 ? text.bestProbes : String(n)) : undefined}
      onInput={(value) => change({ [name]: name === "error_rate" ? value : Math.round(value) })}
    />
  );
  const layout = layoutOf(wish);
  return (
    <form class="card wishes" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="find">
        <legend>{text.find}</legend>
        {unknowns.map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="find"
              checked={wish.find === name}
              onChange={() => change({ ...foundBefore(wish.find, answer), find: name })}
            />
            <span>
              {text.finds[name]} <i>{text.letters[name]}</i>
            </span>
          </label>
        ))}
      </fieldset>
      {unknowns.filter((name) => name !== wish.find).map(number)}
      <div class="choice">
        <label for="layout">{text.layout}</label>
        <select
          id="layout"
          value={layout}
          disabled={wish.find === "probes"}
          onChange={(event) => change({ layout: event.currentTarget.value as Wish["layout"], probes: 0 })}
        >
          <option value="">{text.picked}</option>
          {layouts.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        {layout === "classic" && layout !== wish.layout && <p class="hint">{text.onlyClassic}</p>}
      </div>
      <label class="tick">
        <input type="checkbox" checked={wish.redis} onChange={(event) => change({ redis: event.currentTarget.checked })} />
        <span>{text.redis}</span>
      </label>
      {wish.find !== "keys" && number("values")}
    </form>
  );
}
