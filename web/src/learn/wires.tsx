import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

import type { Probe } from "../bloom/row";

interface WiresProps {
  stage: RefObject<HTMLDivElement>;
  probes: readonly Probe[];
  /** Changes whenever the wires have to be laid anew. */
  redraw: string;
}

interface Wire {
  path: string;
  probe: number;
}

/** From the middle of the card's lower edge to the lamp, falling first and then arriving from above. */
function wireBetween(card: DOMRect, lamp: DOMRect, origin: DOMRect): string {
  const from = { x: card.left + card.width / 2 - origin.left, y: card.bottom - origin.top };
  const to = { x: lamp.left + lamp.width / 2 - origin.left, y: lamp.top - origin.top - 3 };
  const bend = Math.max(18, (to.y - from.y) * 0.55);
  return `M${from.x} ${from.y}C${from.x} ${from.y + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y}`;
}

function lay(stage: HTMLDivElement, probes: readonly Probe[]): Wire[] {
  const origin = stage.getBoundingClientRect();
  return probes.flatMap(({ position }, probe) => {
    const card = stage.querySelector(`[data-probe="${probe}"]`)?.getBoundingClientRect();
    const lamp = stage.querySelector(`[data-bit="${position}"] i`)?.getBoundingClientRect();
    return card && lamp ? [{ path: wireBetween(card, lamp, origin), probe }] : [];
  });
}

/** Wires from each hash to the lamp that it picks. A picture for the eye: the text says the same. */
export function Wires({ stage, probes, redraw }: WiresProps) {
  const [wires, setWires] = useState<Wire[]>([]);
  useLayoutEffect(() => {
    const node = stage.current;
    if (!node) return;
    const draw = (): void => setWires(lay(node, probes));
    draw();
    const watcher = new ResizeObserver(draw);
    watcher.observe(node);
    return () => watcher.disconnect();
  }, [redraw]);
  return (
    <svg class="wires" aria-hidden="true">
      {wires.map(({ path, probe }) => (
        <path key={`${probe} ${redraw}`} d={path} pathLength={1} class={`wire probe-${Math.min(probe, 2)}`} />
      ))}
    </svg>
  );
}
