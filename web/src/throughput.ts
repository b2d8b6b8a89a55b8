// Throughput per cell: every repetition as a dot, their mean as a line.

import { max, ticks } from "d3-array";
import { scaleLinear } from "d3-scale";
import { repetitionClass, repetitionsOf } from "./colors";
import { h, labelWidth, s } from "./dom";
import { meanWithin, number, tick as tickText } from "./format";
import { drawn } from "./legend";
import type { Page } from "./page";
import { runAddress } from "./run-page";
import { runsOf } from "./series";
import { explain } from "./tooltip";

const TOP = 8;
const AXIS = 44;

/** The figure of all cells; its legend hides and shows repetitions. */
export function throughput(page: Page): HTMLElement {
  const repetitions = repetitionsOf(page);
  const entries = repetitions.map((repetition) => ({ label: `repetition ${repetition}`, swatch: `dot ${repetitionClass(repetition)}` }));
  const mean = h("span", { class: "key" }, h("span", { class: "swatch mean" }), "mean of all");
  return drawn(
    {
      name: "Repetitions",
      entries,
      rows: { total: page.cells.length, noun: "combinations" },
      draw: (width, isHidden, rows) => draw({ ...page, cells: page.cells.slice(0, rows) }, width, (repetition) => isHidden(repetitions.indexOf(repetition))),
    },
    mean,
  );
}

/** Repetitions lie side by side, so that equal ones do not hide each other; pixels off the middle. */
function lane(position: number, repetitions: number): number {
  return repetitions < 2 ? 0 : (position / (repetitions - 1) - 0.5) * Math.min(18, 5 * (repetitions - 1));
}

function draw(page: Page, width: number, isHidden: (repetition: number) => boolean): SVGElement {
  const labels = labelWidth(page.cells.map((cell) => cell.label)) + 28;
  const narrow = width < 600 || labels > width * 0.45;
  const row = narrow ? 52 : 36;
  const left = narrow ? 8 : labels;
  const right = narrow ? width - 60 : width - 84;
  const bottom = TOP + page.cells.length * row;
  const top = max(page.cells, (cell) => cell.queries_per_s_max ?? 0) ?? 0;
  const x = scaleLinear([0, top > 0 ? top : 1], [left, right]);
  const svg = s("svg", {
    width,
    height: bottom + AXIS,
    role: "group",
    "aria-label": "Queries per second of every repetition",
  });
  for (const tick of ticks(0, top, narrow ? 3 : 6)) {
    svg.append(
      s("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: bottom, class: tick === 0 ? "zero" : "grid" }),
      s("text", { x: x(tick), y: bottom + 18, class: "tick", "text-anchor": tick === 0 && narrow ? "start" : "middle" }, tickText(tick)),
    );
  }
  svg.append(s("text", { x: right, y: bottom + 36, class: "axis", "text-anchor": "end" }, "queries per second"));
  page.cells.forEach((cell, index) => {
    const y = TOP + index * row;
    const middle = narrow ? y + 36 : y + row / 2;
    const mean = meanWithin(cell.queries_per_s_mean, cell.queries_per_s_min, cell.queries_per_s_max);
    svg.append(
      s("text", { x: 0, y: narrow ? y + 18 : middle + 4, class: "label" }, cell.label),
      s("text", { x: width, y: middle + 4, class: "value", "text-anchor": "end" }, mean),
      s("line", { x1: left, x2: right, y1: middle, y2: middle, class: "guide" }),
    );
    if (cell.queries_per_s_mean !== null) {
      const at = x(cell.queries_per_s_mean);
      svg.append(s("line", { x1: at, x2: at, y1: middle - 13, y2: middle + 13, class: "mean" }));
    }
    const runs = runsOf(page, index);
    for (const [position, run] of runs.entries()) {
      if (run.queries_per_s !== null && !isHidden(run.repetition)) {
        const link = s("a", { href: runAddress(page.runs.indexOf(run)) });
        const dot = s("circle", {
          cx: x(run.queries_per_s),
          cy: middle + lane(position, runs.length),
          r: 4,
          class: `dot ${repetitionClass(run.repetition)}`,
        });
        explain(link, [`${number(run.queries_per_s)} queries/s`, `repetition ${run.repetition}`, cell.label, "click for all of this run"]);
        link.append(dot);
        svg.append(link);
      }
    }
  });
  return svg;
}
