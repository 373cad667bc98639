import { useEffect, useId, useState } from "preact/hooks";

import { faultOf } from "./faults";
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
  /** A text, as of an address, that was not taken as the value. */
  refused?: string;
  /** What there is to say of the value. */
  note?: string;
  onInput: (value: number) => void;
}

/** Kinds whose fields need little room. */
const short: readonly KindName[] = ["whole", "time"];

/**
 * A quantity to be moved by a slider or typed, in the units of the command line. What cannot be taken changes nothing, and why
 * is said beside the field, also when the field has lost the focus and shows its value again.
 */
export function Quantity({ label, kind: name, value, min, max, onInput, refused: refusedBefore = "", note, ...given }: QuantityProps) {
  const id = useId();
  const { language } = useSettings();
  const { shell } = useText();
  const kind: Kind = kinds[name];
  const [least, most] = [given.least ?? min, given.most ?? max];
  const format = given.format ?? ((each: number) => kind.say(each, language));
  const [low, high] = [travelOf(kind, min), travelOf(kind, max)];
  const travel = Math.min(high, Math.max(low, travelOf(kind, value)));
  const [draft, setDraft] = useState<string | null>(null);
  const [refused, setRefused] = useState(refusedBefore);
  useEffect(() => setRefused(refusedBefore), [refusedBefore]);

  const reason = (text: string): string => {
    const fault = faultOf(kind, text, least, most);
    if (!fault) return "";
    return `${shell.faults[fault]} ${shell.range(kind.write(least), kind.write(most), kind.example)}`;
  };
  const wrong = draft === null ? "" : reason(draft);
  const words = wrong || (draft === null && refused && shell.notTaken(refused, reason(refused))) || note;
  return (
    <div class={short.includes(name) ? "quantity short" : "quantity"}>
      <label id={`${id}-label`} for={`${id}-field`}>
        {label}
      </label>
      <Field
        id={`${id}-field`}
        kind={kind}
        shown={draft ?? format(value)}
        value={value}
        bounds={[least, most]}
        isWrong={wrong !== ""}
        describedBy={words ? `${id}-words` : undefined}
        edit={(text) => {
          setRefused(text === null && wrong ? draft! : "");
          setDraft(text);
        }}
        type={(text) => {
          setDraft(text);
          const typed = kind.read(text);
          if (typed !== null && reason(text) === "") onInput(typed);
        }}
        step={onInput}
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
        onInput={(event) => {
          setRefused("");
          onInput(fromTravel(kind, Number(event.currentTarget.value)));
        }}
      />
      <p id={`${id}-words`} class={wrong ? "beside wrong-here" : refused ? "beside refused" : "beside"} role="status">
        {words}
      </p>
    </div>
  );
}

interface FieldProps {
  id: string;
  kind: Kind;
  shown: string;
  value: number;
  bounds: [number, number];
  isWrong: boolean;
  describedBy: string | undefined;
  /** Begins to edit a text, goes on with another one, or, with null, ends. */
  edit: (text: string | null) => void;
  type: (text: string) => void;
  step: (value: number) => void;
}

const stepsOf: Record<string, number> = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** The value in words; as digits to change while it has the focus. */
function Field({ id, kind, shown, value, bounds: [least, most], isWrong, describedBy, edit, type, step }: FieldProps) {
  const press = (event: KeyboardEvent): void => {
    const steps = stepsOf[event.key];
    if (steps !== undefined) {
      event.preventDefault();
      const next = Math.min(most, Math.max(least, stepped(kind, value, steps)));
      edit(kind.write(next));
      step(next);
    } else if (event.key === "Escape" || (event.key === "Enter" && !isWrong)) {
      event.preventDefault();
      edit(kind.write(value));
    }
  };
  return (
    <input
      id={id}
      value={shown}
      autocomplete="off"
      spellcheck={false}
      aria-invalid={isWrong}
      aria-describedby={describedBy}
      onFocus={(event) => {
        const field = event.currentTarget;
        const written = kind.write(value);
        edit(written);
        // At once, so that no key is lost; and again after the press that gave the focus has put the caret somewhere.
        field.value = written;
        field.select();
        requestAnimationFrame(() => field.value === written && field.select());
      }}
      onInput={(event) => type(event.currentTarget.value)}
      onKeyDown={press}
      onBlur={() => edit(null)}
    />
  );
}
