import { useId } from "preact/hooks";

/** How a slider's travel becomes a value: evenly, or so that each step multiplies. */
export type Scale = "linear" | "log";

interface SliderProps {
  label: string;
  value: number;
  min: number;
  max: number;
  /** Linear: the distance of two values. Log: steps a factor of ten. */
  step: number;
  scale?: Scale;
  format: (value: number) => string;
  onInput: (value: number) => void;
}

/** A labelled slider that says its value in words, to the eye and to screen readers. */
export function Slider({ label, value, min, max, step, scale = "linear", format, onInput }: SliderProps) {
  const id = useId();
  const log = scale === "log";
  const travel = log ? Math.log10(value) : value;
  const shown = format(value);
  const [low, high] = log ? [Math.log10(min), Math.log10(max)] : [min, max];
  return (
    <div class="slider">
      <label for={id}>{label}</label>
      <output for={id}>{shown}</output>
      <input
        id={id}
        type="range"
        min={low}
        max={high}
        step={log ? 1 / step : step}
        value={travel}
        aria-valuetext={shown}
        style={{ "--travel": `${((travel - low) / (high - low)) * 100}%` }}
        onInput={(event) => {
          const at = Number(event.currentTarget.value);
          onInput(log ? Number((10 ** at).toPrecision(3)) : at);
        }}
      />
    </div>
  );
}
