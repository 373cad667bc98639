import { chance, power10 } from "../ui/format";
import { useText } from "../ui/settings";

const lowest = -15; // powers of ten
const marks = [0, -3, -6, -9, -12, -15];

/** Where a probability is on the scale, in per cent from the left. */
function placeOf(rate: number): number {
  const exponent = Math.max(lowest, Math.min(0, Math.log10(Math.max(rate, 1e-30))));
  return (1 - exponent / lowest) * 100;
}

/** The error rate now against the one that was promised: the lamp must stay left of the fence. */
export function RateScale({ now, promised }: { now: number; promised: number }) {
  const { watch: text } = useText();
  return (
    <div class="rate-scale" role="img" aria-label={text.scale(chance(now), chance(promised))}>
      <div class="track" style={{ "--promised": `${placeOf(promised)}%` }}>
        <b class={now > promised ? "lamp over" : "lamp"} style={{ left: `${placeOf(now)}%` }} />
        <i style={{ left: `${placeOf(promised)}%` }} />
      </div>
      {marks.map((exponent) => (
        <span key={exponent} style={{ left: `${(1 - exponent / lowest) * 100}%` }}>
          {exponent === 0 ? "1" : power10(exponent)}
        </span>
      ))}
    </div>
  );
}
