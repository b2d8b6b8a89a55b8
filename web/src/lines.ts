// Lines over a quantity with few values (buffer pools, connections, percentiles), one per arm, with
// the range of their repetitions; marks on the axis and arrows between places where a figure has them.

import { max, min, ticks } from "d3-array";
import { scaleLinear, scaleLog } from "d3-scale";
import { s } from "./dom";
import { drawn } from "./legend";
import { explain } from "./tooltip";

export interface LinePoint {
  x: number;
  y: number;
  /** Ends of its interval, or lowest and highest repetition. */
  low?: number | null;
  high?: number | null;
  /** What is told of it, the value first. */
  says: readonly string[];
}

export interface Line {
  label: string;
  points: readonly LinePoint[];
  /** Points alone, in the colour and shape of the line with this number. */
  pointsOf?: number;
  /** Points that only show where the line is known. */
  small?: boolean;
}

export interface LineFigure {
  lines: readonly Line[];
  /** Where the x axis has its ticks, and what stands there. */
  xTicks: readonly { x: number; text: string }[];
  xTitle: string;
  yTitle: string;
  /** A logarithmic y axis; else it begins at 0. */
  logY?: boolean;
  /** Ranges as one band along the line, where points lie close; else a line at each point. */
  band?: boolean;
  yTick: (value: number) => string;
  marks?: readonly { x: number; text: string }[];
  arrows?: readonly { line: number; y: number; from: number; to: number; says: string }[];
}

/** Lines that are shown at first; more would be a tangle. */
const SHOWN = 7;
const HEIGHT = 312;
// The axis's title has the first line, the letters of marks the next.
const TOP = 38;
const BOTTOM = 46;
const LEFT = 62;
const RIGHT = 30;
/** Shapes tell arms apart where colours do not. */
const SMALL = "M0,-1.8a1.8,1.8 0 1,0 .01,0z";
const SHAPES = ["M0,-4.5a4.5,4.5 0 1,0 .01,0z", "M-4,-4h8v8h-8z", "M0,-5.5l5,9h-10z", "M0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z"];

/** The figure, with a legend of its lines. */
export function lineFigure(name: string, figure: LineFigure): HTMLElement {
  const entries = figure.lines.map(({ label, pointsOf }, index) => ({ label, swatch: pointsOf === undefined ? `line c${index % 7}` : `dot c${pointsOf % 7}` }));
  return drawn({ name, entries, shown: SHOWN, draw: (width, isHidden) => draw(name, figure, width, isHidden) });
}

function yScale({ lines, logY }: LineFigure): (value: number) => number {
  const points = lines.flatMap((line) => line.points);
  const highest = max(points, (point) => point.high ?? point.y) ?? 1;
  const lowest = min(points, (point) => point.low ?? point.y) ?? 0;
  const range: [number, number] = [HEIGHT - BOTTOM, TOP];
  return logY === true
    ? scaleLog([Math.max(lowest, 1e-6) / 1.2, highest * 1.2], range)
    : scaleLinear([0, highest > 0 ? highest * 1.08 : 1], range);
}

/** Ticks 1, 2, 5 of a logarithmic axis that its ends enclose; few enough to read. */
export function logTicks(lowest: number, highest: number): number[] {
  const digits = highest / lowest > 100 ? [1] : [1, 2, 5];
  const all: number[] = [];
  for (let exponent = Math.floor(Math.log10(lowest)); 10 ** exponent <= highest; exponent += 1) {
    all.push(...digits.map((digit) => Number(`${digit}e${exponent}`)));
  }
  return all.filter((tick) => tick >= lowest && tick <= highest);
}

function draw(name: string, figure: LineFigure, width: number, isHidden: (line: number) => boolean): SVGElement {
  const xs = [...figure.lines.flatMap((line) => line.points.map(({ x }) => x)), ...(figure.marks ?? []).map(({ x }) => x), ...(figure.arrows ?? []).map(({ to }) => to)];
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const x = scaleLog([first / 1.05, last * 1.05], [LEFT, width - RIGHT]);
  const y = yScale(figure);
  const svg = s("svg", { width, height: HEIGHT, role: "group", "aria-label": name });
  grid(svg, figure, x, y, width);
  figure.lines.forEach((line, index) => {
    if (!isHidden(index)) {
      svg.append(lineMarks(line, index, x, y, figure.band === true));
    }
  });
  for (const arrow of figure.arrows ?? []) {
    if (!isHidden(arrow.line)) {
      svg.append(arrowMark(arrow, x, y));
    }
  }
  return svg;
}

type Scale = (value: number) => number;

function grid(svg: SVGElement, figure: LineFigure, x: Scale, y: Scale, width: number): void {
  const points = figure.lines.flatMap((line) => line.points);
  const highest = max(points, (point) => point.high ?? point.y) ?? 1;
  const lowest = Math.max(min(points, (point) => point.low ?? point.y) ?? 1, 1e-6);
  const yTicks = figure.logY === true ? logTicks(lowest / 1.2, highest * 1.2) : ticks(0, highest, 5);
  for (const tick of yTicks) {
    svg.append(
      s("line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), class: tick === 0 ? "zero" : "grid" }),
      s("text", { x: LEFT - 8, y: y(tick) + 4, class: "tick", "text-anchor": "end" }, figure.yTick(tick)),
    );
  }
  let right = -Infinity;
  for (const tick of figure.xTicks) {
    const at = x(tick.x);
    // As many labels as fit beside each other.
    if (at - right > 8 + tick.text.length * 7) {
      svg.append(s("text", { x: at, y: HEIGHT - BOTTOM + 18, class: "tick", "text-anchor": "middle" }, tick.text));
      right = at;
    }
  }
  svg.append(
    s("text", { x: width - RIGHT, y: HEIGHT - 6, class: "axis", "text-anchor": "end" }, figure.xTitle),
    s("text", { x: 0, y: 12, class: "axis" }, figure.yTitle),
  );
  for (const mark of figure.marks ?? []) {
    svg.append(
      s("line", { x1: x(mark.x), x2: x(mark.x), y1: TOP, y2: HEIGHT - BOTTOM, class: "mark" }),
      s("text", { x: x(mark.x), y: TOP - 6, class: "tick strong", "text-anchor": "middle" }, mark.text),
    );
  }
}

function lineMarks(line: Line, number: number, x: Scale, y: Scale, band: boolean): SVGElement {
  const index = line.pointsOf ?? number;
  const color = `c${index % 7}`;
  const group = s("g", {});
  if (line.pointsOf === undefined) {
    if (band) {
      group.append(s("path", { d: bandPath(line.points, x, y), class: `band ${color}` }));
    }
    const path = line.points.map((point, at) => `${at === 0 ? "M" : "L"}${x(point.x)},${y(point.y)}`).join("");
    group.append(s("path", { d: path, class: `curve ${color}` }));
  }
  for (const point of line.points) {
    if (!band && point.low != null && point.high != null) {
      group.append(s("line", { x1: x(point.x), x2: x(point.x), y1: Math.min(y(point.low), HEIGHT - BOTTOM), y2: y(point.high), class: `spread ${color}` }));
    }
    const mark = s("path", {
      d: line.small === true ? SMALL : (SHAPES[index % SHAPES.length] ?? ""),
      transform: `translate(${x(point.x)},${y(point.y)})`,
      class: `dot ${color}`,
      tabindex: 0,
      role: "img",
    });
    explain(mark, [...point.says, line.label]);
    group.append(mark);
  }
  return group;
}

/** Along the highest and back along the lowest. */
function bandPath(points: readonly LinePoint[], x: Scale, y: Scale): string {
  const edge = (of: readonly LinePoint[], end: "low" | "high"): string[] => of.map((point) => `${x(point.x)},${y(point[end] ?? point.y)}`);
  return `M${[...edge(points, "high"), ...edge(points.toReversed(), "low")].join("L")}Z`;
}

function arrowMark({ line, y: value, from, to, says }: NonNullable<LineFigure["arrows"]>[number], x: Scale, y: Scale): SVGElement {
  const [start, end, at] = [x(from), x(to), y(value)];
  const head = end > start ? -6 : 6;
  const group = s("g", { class: `arrow c${line % 7}`, tabindex: 0, role: "img" },
    s("path", { d: `M${start},${at}H${end}m${head},-4l${-head},4l${head},4` }),
  );
  explain(group, [says]);
  return group;
}
