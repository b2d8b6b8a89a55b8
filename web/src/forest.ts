// The comparisons as a forest plot: ratio and 95 % interval per comparison, on a logarithmic axis,
// so that 2x and 1/2x are equally far from 1.
//
// Plain SVG on d3-scale: Observable Plot would add some 250 kB for two figures, sets styles that the
// page's policy forbids, and can neither be focused by keyboard nor lay its labels out for a phone.

import { scaleLog } from "d3-scale";
import { labelWidth, s } from "./dom";
import { drawn } from "./legend";
import type { Answer } from "./page";
import { ratioDomain, ratioTicks } from "./scales";
import { explain } from "./tooltip";

const ROW = 46;
const TOP = 8;
const AXIS = 44;

/** A ratio with its interval. */
export type ForestRow = Pick<Answer, "what" | "context" | "ratio" | "ratio_low" | "ratio_high" | "ratio_text" | "interval_text" | "verdict"> & {
  /** Sentences of its tooltip, below its name. */
  said: readonly string[];
};

export function rowOfAnswer(answer: Answer): ForestRow {
  const said = answer.verdict === "invalid" ? [answer.sentence] : [`${valueText(answer)}, ${answer.pairs} repetitions`, answer.verdict_name];
  return { ...answer, said };
}

function valueText(row: Pick<ForestRow, "verdict" | "ratio_text" | "interval_text">): string {
  return row.verdict === "invalid" ? "invalid" : `${row.ratio_text}  (${row.interval_text || "no interval"})`;
}

/** The figure of all ratios; redraws itself when its width changes. */
export function forest(name: string, answers: readonly ForestRow[]): HTMLElement {
  const figure = drawn({
    name,
    rows: { total: answers.length, noun: name.toLowerCase() },
    draw: (width, _, rows) => draw(answers.slice(0, rows), width),
  });
  figure.classList.add("forest");
  return figure;
}

function draw(answers: readonly ForestRow[], width: number): SVGElement {
  const labels = labelWidth(answers.flatMap((answer) => [answer.what, answer.context])) + 28;
  // Labels stand beside the marks where there is room, else above them.
  const narrow = width < 600 || labels > width * 0.45;
  const row = narrow ? 62 : ROW;
  const left = narrow ? 8 : labels;
  const right = narrow ? width - 68 : width - 150;
  const bottom = TOP + answers.length * row;
  const domain = ratioDomain(
    answers.flatMap((answer) => [answer.ratio_low, answer.ratio, answer.ratio_high].filter((x) => x !== null)),
  );
  const x = scaleLog(domain, [left, right]);
  const svg = s("svg", {
    width,
    height: bottom + AXIS,
    role: "group",
    "aria-label": "Ratios of the comparisons with their 95 % intervals",
  });
  for (const tick of ratioTicks(domain, narrow ? 4 : 7)) {
    const one = tick === 1;
    svg.append(
      s("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: bottom, class: one ? "one" : "grid" }),
      s("text", { x: x(tick), y: bottom + 18, class: one ? "tick strong" : "tick", "text-anchor": "middle" }, `${tick}x`),
    );
  }
  svg.append(
    s("text", { x: x(1) - 8, y: bottom + 36, class: "axis", "text-anchor": "end" }, x(1) - left > 60 ? "\u2190 lower" : ""),
    s("text", { x: x(1) + 8, y: bottom + 36, class: "axis" }, "higher \u2192"),
  );
  answers.forEach((answer, index) => {
    svg.append(comparison(answer, { y: TOP + index * row, row, left, width, narrow, x }));
  });
  return svg;
}

interface Place {
  y: number;
  row: number;
  left: number;
  width: number;
  narrow: boolean;
  x: (value: number) => number;
}

function comparison(answer: ForestRow, place: Place): SVGElement {
  const { y, row, width, narrow, x } = place;
  const middle = narrow ? y + 46 : y + row / 2;
  const value = valueText(answer);
  const group = s("g", { class: `comparison ${answer.verdict}`, tabindex: 0, role: "img" });
  const hit = s("rect", { x: 0, y, width, height: row, class: "hit" });
  group.append(hit, label(answer, place));
  const short = answer.verdict === "invalid" ? "invalid" : answer.ratio_text;
  group.append(s("text", { x: width, y: middle + 4, class: "value", "text-anchor": "end" }, narrow ? short : value));
  const { ratio, ratio_low, ratio_high } = answer;
  const marks = s("g", { class: "marks" });
  if (ratio_low !== null && ratio_high !== null) {
    const cap = (at: number) => s("line", { x1: x(at), x2: x(at), y1: middle - 5, y2: middle + 5, class: "interval" });
    marks.append(
      s("line", { x1: x(ratio_low), x2: x(ratio_high), y1: middle, y2: middle, class: "interval" }),
      cap(ratio_low),
      cap(ratio_high),
    );
  }
  if (ratio !== null) {
    marks.append(point(answer, x(ratio), middle));
  }
  group.append(marks);
  const where = answer.context === "" ? [] : [answer.context];
  explain(group, [answer.what, ...where, ...answer.said], marks);
  return group;
}

function label(answer: ForestRow, { y, row, narrow }: Place): SVGElement {
  const middle = narrow ? y + 20 : y + row / 2;
  if (answer.context === "") {
    return s("text", { x: 0, y: middle + 4, class: "label" }, answer.what);
  }
  return s(
    "text",
    { x: 0, class: "label" },
    s("tspan", { x: 0, y: middle - 5 }, answer.what),
    s("tspan", { x: 0, y: middle + 11, class: "context" }, answer.context),
  );
}

/** Full for a difference, hollow for none shown, a square for equality, a cross for what a rule forbids: told apart without colour. */
function point(answer: ForestRow, x: number, y: number): SVGElement {
  if (answer.verdict === "invalid") {
    return s("path", { d: `M${x - 5},${y - 5}l10,10m0,-10l-10,10`, class: "cross" });
  }
  if (answer.verdict === "equal") {
    return s("rect", { x: x - 5, y: y - 5, width: 10, height: 10, class: "point" });
  }
  return s("circle", { cx: x, cy: y, r: 5.5, class: "point" });
}
