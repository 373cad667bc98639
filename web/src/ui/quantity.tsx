import { useId, useState } from "preact/hooks";

import { fromTravel, kinds, stepped, travelOf } from "./quantities";
import type { Kind, KindName } from "./quantities";
import { useSettings, useText } from "./settings";

interface QuantityProps {
  label: string;
  kind: KindName;
  value: number;
  /** Where the slider begins and ends. */
  min: number;
  max: number;
  /** What may be typed, where that is more than the slider has. */
  least?: number;
  most?: number;
  /** The value in words, as it stands in the field while nobody types, where that is not as its kind says it. */
  format?: (value: number) => string;
  onInput: (value: number) => void;
}

/** Kinds whose fields need little room. */
const short: readonly KindName[] = ["whole", "time"];

/** A quantity to be moved by a slider or typed, in the units of the command line. */
export function Quantity({ label, kind: name, value, min, max, onInput, ...given }: QuantityProps) {
  const id = useId();
  const { language } = useSettings();
  const kind: Kind = kinds[name];
  const format = given.format ?? ((each: number) => kind.say(each, language));
  const [low, high] = [travelOf(kind, min), travelOf(kind, max)];
  const travel = Math.min(high, Math.max(low, travelOf(kind, value)));
  return (
    <div class={short.includes(name) ? "quantity short" : "quantity"}>
      <label id={`${id}-label`} for={`${id}-field`}>
        {label}
      </label>
      <Field
        id={`${id}-field`}
        kind={kind}
        value={value}
        least={given.least ?? min}
        most={given.most ?? max}
        format={format}
        onInput={onInput}
      />
      <input
        type="range"
        aria-labelledby={`${id}-label`}
        aria-valuetext={format(value)}
        min={low}
        max={high}
        step={kind.scale === "log" ? 1 / kind.step : kind.step}
        value={travel}
        style={{ "--travel": `${((travel - low) / (high - low)) * 100}%` }}
        onInput={(event) => onInput(fromTravel(kind, Number(event.currentTarget.value)))}
      />
    </div>
  );
}

interface FieldProps {
  id: string;
  kind: Kind;
  value: number;
  least: number;
  most: number;
  format: (value: number) => string;
  onInput: (value: number) => void;
}

const stepsOf: Record<string, number> = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** The value in words; as digits to change while it has the focus. What cannot be read changes nothing, and is said. */
function Field({ id, kind, value, least, most, format, onInput }: FieldProps) {
  const { shell } = useText();
  const [draft, setDraft] = useState<string | null>(null);
  const read = (text: string): number | null => {
    const typed = kind.read(text);
    return typed === null || typed < least || typed > most ? null : typed;
  };
  const wrong = draft !== null && read(draft) === null;
  const type = (text: string): void => {
    setDraft(text);
    const typed = read(text);
    if (typed !== null) onInput(typed);
  };
  const press = (event: KeyboardEvent): void => {
    const steps = stepsOf[event.key];
    if (steps !== undefined) {
      event.preventDefault();
      const next = Math.min(most, Math.max(least, stepped(kind, value, steps)));
      setDraft(kind.write(next));
      onInput(next);
    } else if (event.key === "Enter" || event.key === "Escape") {
      event.preventDefault();
      setDraft(kind.write(value));
    }
  };
  return (
    <span class="field-of">
      <input
        id={id}
        value={draft ?? format(value)}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={wrong}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        onFocus={(event) => {
          const field = event.currentTarget;
          const written = kind.write(value);
          setDraft(written);
          // At once, so that no key is lost; and again after the press that gave the focus has put the caret somewhere.
          field.value = written;
          field.select();
          requestAnimationFrame(() => field.value === written && field.select());
        }}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={press}
        onBlur={() => setDraft(null)}
      />
      <span id={`${id}-wrong`} class="wrong-here" role="status">
        {wrong && shell.wrongNumber(kind.write(least), kind.write(most), kind.example)}
      </span>
    </span>
  );
}
