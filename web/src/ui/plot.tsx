import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { power10 } from "./format";
import { useSettings } from "./settings";

export interface Curve {
  label: string;
  /** A custom property of the page's colours, as in "--ink". */
  color: string;
  values: readonly (number | null)[];
  dash?: number[];
  fill?: boolean;
  width?: number;
}

export interface Axis {
  label?: string;
  log?: boolean;
  range?: [number, number];
  format?: (value: number) => string;
  time?: boolean;
}

interface PlotProps {
  /** What the plot shows, in words: all that a screen reader gets. */
  label: string;
  x: readonly number[];
  curves: readonly Curve[];
  xAxis?: Axis;
  yAxis?: Axis;
  dot?: { x: number; y: number; color?: string };
  height?: number;
  legend?: boolean;
}

function colorOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const font = '12px "Atkinson Hyperlegible Next Variable", "PingFang SC", "Noto Sans CJK SC", sans-serif';

/** On a log axis each power of ten has a line, and no other number has one: from line to line it is always ten times as much. */
function powersBetween(min: number, max: number): number[] {
  const [low, high] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
}

/** The powers that get a name: no more than there is room for. The others are null. */
function namedPowers(powers: readonly number[]): (number | null)[] {
  const every = Math.max(1, Math.ceil((powers.length - 1) / 6));
  return powers.map((power) => (Math.round(Math.log10(power)) % every === 0 ? power : null));
}

function axisOptions(axis: Axis | undefined, side: "x" | "y"): uPlot.Axis {
  const power = (value: number): string => power10(Math.round(Math.log10(value)));
  const format = axis?.format ?? (axis?.log ? power : undefined);
  return {
    stroke: colorOf("--muted"),
    font,
    labelFont: font,
    label: axis?.label,
    labelSize: axis?.label ? 20 : 0,
    grid: { stroke: colorOf("--line"), width: 1 },
    ticks: { show: false },
    gap: 6,
    size: side === "x" ? 28 : 56,
    ...(side === "x" ? { space: 72 } : {}),
    ...(format ? { values: (_: uPlot, splits: number[]) => splits.map((value: number | null) => (value === null ? "" : format(value))) } : {}),
    ...(axis?.log
      ? { splits: (_: uPlot, __: number, min: number, max: number) => powersBetween(min, max), filter: (_: uPlot, s: number[]) => namedPowers(s) }
      : {}),
  };
}

/** Room on the right for the half of the last name that is beyond the end of the axis. */
function roomAtTheEnd(plot: uPlot, axis: Axis | undefined): number {
  const end = plot.scales.x.max;
  if (end === undefined) return 8;
  plot.ctx.save();
  plot.ctx.font = font;
  const { width } = plot.ctx.measureText(axis?.format?.(end) ?? String(end));
  plot.ctx.restore();
  return Math.max(8, Math.ceil(width / 2) + 2);
}

function scaleOptions(axis: Axis | undefined): uPlot.Scale {
  return { time: axis?.time ?? false, distr: axis?.log ? 3 : 1, ...(axis?.range ? { range: axis.range } : {}) };
}

function drawDot(plot: uPlot, dot: NonNullable<PlotProps["dot"]>): void {
  const { ctx } = plot;
  const at = [plot.valToPos(dot.x, "x", true), plot.valToPos(dot.y, "y", true)];
  if (!at.every(Number.isFinite)) return;
  const unit = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.arc(at[0], at[1], 6 * unit, 0, 2 * Math.PI);
  ctx.fillStyle = colorOf(dot.color ?? "--lamp");
  ctx.fill();
  ctx.lineWidth = 2 * unit;
  ctx.strokeStyle = colorOf("--ink");
  ctx.stroke();
  ctx.restore();
}

/** A plot that draws in the page's colours and follows the width of its place. */
export function Plot({ label, x, curves, xAxis, yAxis, dot, height = 220, legend = false }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const latestDot = useRef(dot);
  latestDot.current = dot;
  const { dark, language } = useSettings();
  // What cannot be changed in a plot once it is made.
  const shape = JSON.stringify([dark, language, height, xAxis, yAxis, curves.map(({ values: _, ...rest }) => rest)]);
  const data = [x, ...curves.map((curve) => curve.values)] as uPlot.AlignedData;

  useEffect(() => {
    const node = place.current!;
    const plot = new uPlot(
      {
        width: Math.max(node.clientWidth, 200),
        height,
        legend: { show: false },
        cursor: { show: false },
        padding: [8, (plot) => roomAtTheEnd(plot, xAxis), 0, 0],
        scales: { x: scaleOptions(xAxis), y: scaleOptions(yAxis) },
        axes: [axisOptions(xAxis, "x"), axisOptions(yAxis, "y")],
        series: [
          {},
          ...curves.map((curve) => ({
            label: curve.label,
            stroke: colorOf(curve.color),
            width: curve.width ?? 2,
            dash: curve.dash,
            fill: curve.fill ? colorOf(`${curve.color}-soft`) : undefined,
            points: { show: false },
            pxAlign: 0,
            // Curves may have points at places of their own.
            spanGaps: true,
          })),
        ],
        hooks: { draw: [(u) => latestDot.current && drawDot(u, latestDot.current)] },
      },
      data,
      node,
    );
    drawn.current = plot;
    const watcher = new ResizeObserver(() => plot.setSize({ width: Math.max(node.clientWidth, 200), height }));
    watcher.observe(node);
    return () => {
      watcher.disconnect();
      plot.destroy();
      drawn.current = null;
    };
  }, [shape]);

  useEffect(() => drawn.current?.setData(data));

  return (
    <figure class="plot">
      <div ref={place} role="img" aria-label={label} style={{ minHeight: `${height}px` }} />
      {legend && (
        <figcaption class="legend" aria-hidden="true">
          {curves.map((curve) => (
            <span key={curve.label}>
              <i style={{ background: `var(${curve.color})` }} />
              {curve.label}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}
