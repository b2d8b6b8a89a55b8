// Stacked bars: one row per combination and side, one colour per part; a line over the end of each part
// from its lowest to its highest repetition.

import { max, ticks } from "d3-array";
import { scaleLinear } from "d3-scale";
import { labelWidth, s } from "./dom";
import { number, tick as tickText } from "./format";
import { drawn } from "./legend";
import { middle, type Spread } from "./page";
import { explain } from "./tooltip";

export interface Part {
  name: string;
  /** The class that gives it its colour. */
  color: string;
}

/** A row of bars: for each side a value per part, with its range. */
export interface BarRow {
  label: string;
  sides: readonly { name: string; values: readonly Spread[] }[];
}

export interface BarFigure {
  parts: readonly Part[];
  rows: readonly BarRow[];
  unit: string;
  /** A value to be compared with, marked in all rows. */
  mark?: number;
  /** Under the axis, if it is not the unit. */
  axis?: string;
}

const BAR = 13;
const TOP = 8;
const AXIS = 44;
/** A line that is shorter says nothing, pixels. */
const SPREAD_MIN = 2;

export function barFigure(name: string, figure: BarFigure, ...more: Node[]): HTMLElement {
  const entries = figure.parts.map((part) => ({ label: part.name, swatch: part.color }));
  return drawn(
    {
      name,
      entries,
      rows: { total: figure.rows.length, noun: "rows" },
      draw: (width, isHidden, rows) => draw(name, { ...figure, rows: figure.rows.slice(0, rows) }, width, isHidden),
    },
    ...more,
  );
}

/** How far to the right a row of parts comes, its lines included. */
function reach(values: readonly Spread[], isHidden: (part: number) => boolean): number {
  let [from, end] = [0, 0];
  values.forEach((value, part) => {
    if (!isHidden(part)) {
      end = Math.max(end, from + (value?.[2] ?? 0));
      from += middle(value) ?? 0;
    }
  });
  return end;
}

/** `2.1 to 2.4 cores in the repetitions`; nothing where they are the same. */
function rangeText(low: number, high: number, unit: string): string {
  const [from, to] = [number(low), number(high)];
  return from === to ? "" : `${from} to ${to} ${unit} in the repetitions`;
}

function draw(name: string, { parts, rows, unit, axis, mark }: BarFigure, width: number, isHidden: (part: number) => boolean): SVGElement {
  const sides = rows[0]?.sides.length ?? 1;
  const named = sides > 1;
  const labels = labelWidth(rows.map(({ label }) => label)) + (named ? 64 : 20);
  const narrow = width < 600 || labels > width * 0.5;
  const bars = sides * (BAR + 3);
  const row = narrow ? bars + 36 : bars + 14;
  const left = narrow ? (named ? 40 : 2) : labels;
  const right = width - 56;
  const bottom = TOP + rows.length * row;
  const longest = max(rows, (one) => max(one.sides, (side) => reach(side.values, isHidden))) ?? 0;
  const x = scaleLinear([0, longest > 0 ? longest : 1], [left, right]);
  const svg = s("svg", { width, height: bottom + AXIS, role: "group", "aria-label": name });
  for (const tick of ticks(0, longest, narrow ? 3 : 6)) {
    svg.append(
      s("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: bottom, class: tick === 0 ? "zero" : "grid" }),
      s("text", { x: x(tick), y: bottom + 18, class: "tick", "text-anchor": "middle" }, tickText(tick)),
    );
  }
  if (mark !== undefined && mark <= longest) {
    svg.append(s("line", { x1: x(mark), x2: x(mark), y1: TOP, y2: bottom, class: "mark" }));
  }
  svg.append(s("text", { x: right, y: bottom + 36, class: "axis", "text-anchor": "end" }, axis ?? unit));
  rows.forEach(({ label, sides: values }, index) => {
    const y = TOP + index * row;
    const first = narrow ? y + 28 : y + (row - bars) / 2;
    svg.append(s("text", { x: 0, y: narrow ? y + 18 : y + row / 2 + 4, class: "label" }, label));
    values.forEach((side, position) => {
      const at = first + position * (BAR + 3);
      if (named) {
        svg.append(s("text", { x: left - 6, y: at + BAR - 3, class: "side", "text-anchor": "end" }, side.name));
      }
      let [from, end] = [0, 0];
      side.values.forEach((spread, part) => {
        const [value, low, high] = spread ?? [0, 0, 0];
        if (value <= 0 || isHidden(part)) {
          return;
        }
        const mark = s("rect", {
          x: x(from),
          y: at,
          width: Math.max(x(from + value) - x(from), 0.75),
          height: BAR,
          class: `bar ${parts[part]?.color ?? ""}`,
          tabindex: 0,
          role: "img",
        });
        explain(mark, [`${parts[part]?.name ?? ""}: ${number(value)} ${unit}${named ? ` ${side.name}` : ""}`, rangeText(low, high, unit), label].filter((text) => text !== ""));
        svg.append(mark);
        const [lowest, highest] = [x(from + low), x(from + high)];
        if (highest - lowest >= SPREAD_MIN) {
          // On paper's colour, so that it is seen on a bar of any.
          const d = `M${lowest},${at + BAR / 2}H${highest}M${lowest},${at + 3}v${BAR - 6}M${highest},${at + 3}v${BAR - 6}`;
          svg.append(s("path", { d, class: "whisker halo" }), s("path", { d, class: "whisker" }));
        }
        end = Math.max(end, from + high);
        from += value;
      });
      svg.append(s("text", { x: x(Math.max(from, end)) + 6, y: at + BAR - 3, class: "side value" }, number(from)));
    });
  });
  return svg;
}
