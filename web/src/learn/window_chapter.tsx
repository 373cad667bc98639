import { useLayoutEffect, useState } from "preact/hooks";

import { forgottenAt, oldestLive, remembers, sliceAt, sliceWidth } from "../bloom/window";
import type { Window } from "../bloom/window";
import { chance, clock } from "../ui/format";
import { Quantity } from "../ui/quantity";
import { useText } from "../ui/settings";
import { Chapter } from "./chapter";

const width = 600; // seconds
const end = 1800;
const start = 150;

/** Half an hour in a straight line: its slices, those that count, and when alice came. */
function Timeline({ window, now, came }: { window: Window; now: number; came: number | null }) {
  const { learn } = useText();
  const text = learn.window;
  const each = sliceWidth(window);
  const newest = sliceAt(window, now);
  const oldest = oldestLive(window, now);
  const at = (time: number): string => `${(time / end) * 100}%`;
  const state = (slice: number): string =>
    slice > newest ? "future" : slice === newest ? "filling" : slice >= oldest ? "live" : "gone";
  const live = Math.min(newest + 1, window.slices + 1);
  return (
    <div class="timeline" role="img" aria-label={text.diagram(clock(now), live)}>
      {Array.from({ length: Math.ceil(end / each) }, (_, slice) => (
        <div
          key={slice}
          class={`slice ${state(slice)} ${came !== null && sliceAt(window, came) === slice ? "hers" : ""}`}
          style={{ left: at(slice * each), width: at(Math.min(each, end - slice * each)) }}
        />
      ))}
      {came !== null && <b class="came" style={{ left: at(came) }} />}
      <b class="now" style={{ left: at(now) }} />
      {[0, 600, 1200, 1800].map((time) => (
        <span key={time} style={{ left: at(time) }}>
          {clock(time)}
        </span>
      ))}
    </div>
  );
}

/** Time that runs while `running`: a minute a second. */
function useRunning(now: number, setNow: (now: number) => void): [boolean, (running: boolean) => void] {
  const [running, setRunning] = useState(false);
  // Of the layout, so that nothing runs after a press of Pause.
  useLayoutEffect(() => {
    if (!running) return;
    const timer = setTimeout(() => {
      if (now + 6 >= end) setRunning(false);
      setNow(Math.min(end, now + 6));
    }, 100);
    return () => clearTimeout(timer);
  }, [running, now]);
  return [running, setRunning];
}

export function WindowChapter() {
  const { learn } = useText();
  const text = learn.window;
  const [slices, setSlices] = useState(5);
  const [now, setNow] = useState(start);
  const [came, setCame] = useState<number | null>(null);
  const [running, setRunning] = useRunning(now, setNow);
  const window: Window = { width, slices };
  // Who moves time back before alice came sees a time when she had not.
  const known = came !== null && came <= now ? came : null;
  const remembered = known !== null && remembers(window, known, now);
  const verdict = (): string => {
    if (known === null) return text.never;
    const until = forgottenAt(window, known);
    return remembered ? text.seen(clock(until - now)) : text.forgotten(clock(until - known));
  };
  const reset = (): void => {
    setRunning(false);
    setNow(start);
    setCame(null);
  };
  return (
    <Chapter name="window" title={text.title} text={text.text}>
      <div class="quantities">
        <Quantity label={text.now} kind="time" value={now} min={0} max={end} onInput={setNow} />
        <Quantity label={text.slices} kind="whole" value={slices} min={1} max={20} onInput={setSlices} />
      </div>
      <Timeline window={window} now={now} came={known} />
      <p class="slice-legend" aria-hidden="true">
        <span>
          <i class="slice filling" /> {text.fillingNow}
        </span>
        <span>
          <i class="slice live" /> {text.live}
        </span>
        <span>
          <i class="slice gone" /> {text.gone}
        </span>
      </p>
      <div class="small-buttons">
        <button type="button" onClick={() => setCame(now)}>
          {text.add}
        </button>
        <button type="button" class="quiet" onClick={() => setRunning(!running)}>
          {running ? text.pause : text.play}
        </button>
        <button type="button" class="quiet" onClick={reset}>
          {text.reset}
        </button>
      </div>
      <div class="answer" role={running ? undefined : "status"} data-verdict={remembered ? "maybe" : "no"}>
        <p>
          <strong>{verdict()}</strong>
        </p>
      </div>
      <p class="hint">{text.price(slices + 1, chance(0.01 / (slices + 1)))}</p>
    </Chapter>
  );
}
