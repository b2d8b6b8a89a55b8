// The answer: a sentence per comparison, and the two figures that show it.

import { fold, h, prose, s } from "../dom";
import { figure } from "../figure";
import { forest, rowOfAnswer } from "../forest";
import { count, sentence } from "../format";
import type { Answer, Page, RankedFindings } from "../page";
import { runsOf } from "../series";
import { show, type Column } from "../table";
import { throughput } from "../throughput";
import { section } from "./section";

/** More than these are folded away: the first ones are the study's main comparisons. */
const SHOWN = 8;

export function answers(page: Page): HTMLElement {
  return section(
    "answer",
    "What is the answer?",
    page.advice === null ? null : h("div", { class: "advice" }, prose(sentence(page.advice))),
    ...(page.answers.length === 0 ? [h("p", {}, "No two combinations could be compared: too few runs were completed.")] : answerList(page.answers)),
    ...rankedList(page.ranked),
    page.answers.length === 0 ? null : comparisonFigure(page),
    throughputFigure(page),
  );
}

/** The comparisons in words, all but the first ones in a fold. */
export function answerList(answers: readonly Answer[]): HTMLElement[] {
  const list = (some: readonly Answer[]): HTMLElement => h("ul", { class: "answers" }, ...some.map(answerItem));
  const rest = answers.slice(SHOWN);
  return [list(answers.slice(0, SHOWN)), ...(rest.length === 0 ? [] : [fold({}, count(rest.length, "more comparison"), () => [list(rest)])])];
}

/** What refused an answer and what could change one, a line for each rule. */
export function rankedList(ranked: RankedFindings): HTMLElement[] {
  const group = (title: string, kind: string, lines: RankedFindings["refused"]): HTMLElement[] =>
    lines.length === 0
      ? []
      : [
          h("h3", { class: "sub" }, title),
          h(
            "ul",
            { class: "findings ranked" },
            ...lines.map((line) => h("li", { class: kind }, h("span", { class: "rule" }, line.rule), prose(line.text))),
          ),
        ];
  return [
    ...group("Refused", "error", ranked.refused),
    ...group("Could change the answer", "warning", ranked.could_change),
    ...(ranked.notes === "" ? [] : [h("div", { class: "note" }, prose(ranked.notes))]),
  ];
}

function answerItem(answer: Answer): HTMLElement {
  const ratio = answer.verdict === "invalid" ? "invalid" : answer.ratio_text;
  return h(
    "li",
    { class: answer.verdict },
    h("span", { class: "ratio", "aria-hidden": "true" }, mark(answer), ratio),
    h(
      "div",
      {},
      prose(answer.sentence),
      ...answer.notes.map((note) => h("p", { class: "beware" }, note)),
    ),
  );
}

/** The mark of the forest plot, so that list and figure explain each other. */
function mark(answer: Answer): SVGElement {
  return s("svg", { width: 14, height: 14, viewBox: "0 0 14 14", class: `comparison ${answer.verdict}` }, shape(answer));
}

function shape(answer: Answer): SVGElement {
  switch (answer.verdict) {
    case "invalid":
      return s("path", { d: "M2,2l10,10m0,-10l-10,10", class: "cross" });
    case "equal":
      return s("rect", { x: 2.5, y: 2.5, width: 9, height: 9, class: "point" });
    default:
      return s("circle", { cx: 7, cy: 7, r: 5, class: "point" });
  }
}

function comparisonFigure(page: Page): HTMLElement {
  const of = (value: (answer: Answer) => string | number | null) => page.answers.map(value);
  const quotable = (value: (answer: Answer) => number | null) =>
    of((answer) => (answer.verdict === "invalid" ? null : value(answer)));
  const columns: Column[] = [
    { title: "Comparison", values: of((answer) => answer.what) },
    { title: "Where", values: of((answer) => answer.context) },
    { title: "Ratio of", values: of((answer) => answer.metric) },
    { title: "Ratio", values: quotable((answer) => answer.ratio) },
    { title: "Lower end", unit: "95 % interval", values: quotable((answer) => answer.ratio_low) },
    { title: "Upper end", unit: "95 % interval", values: quotable((answer) => answer.ratio_high) },
    { title: "Repetitions", values: of((answer) => answer.pairs), show: show.integers },
    { title: "Verdict", values: of((answer) => answer.verdict_name) },
  ];
  return figure(page.title, {
    title: "Comparisons",
    note:
      "Ratio of the two levels with its 95 % interval. Full circle: the interval excludes 1, the levels differ. " +
      "Square: both levels are surely equal within a margin. Hollow circle: neither was shown. Cross: a rule forbids the comparison.",
    body: forest("Comparisons", page.answers.map(rowOfAnswer)),
    columns,
  });
}

function throughputFigure(page: Page): HTMLElement {
  const runs = page.cells.flatMap((cell, index) => runsOf(page, index).map((run) => ({ cell, run })));
  const columns: Column[] = [
    { title: "Combination", values: runs.map(({ cell }) => cell.label) },
    { title: "Repetition", values: runs.map(({ run }) => run.repetition), show: show.integers },
    { title: "Throughput", unit: "queries/s", values: runs.map(({ run }) => run.queries_per_s) },
    { title: "Throughput", unit: "transactions/s", values: runs.map(({ run }) => run.transactions_per_s) },
    { title: "p99 latency", unit: "ms", values: runs.map(({ run }) => run.latency_ms_p99) },
    { title: "Retried", unit: "transactions", values: runs.map(({ run }) => run.errors), show: show.integers },
    { title: "Measured", unit: "s", values: runs.map(({ run }) => run.measured_s) },
    { title: "Started", values: runs.map(({ run }) => run.started_at) },
  ];
  return figure(page.title, {
    title: "Throughput of every repetition",
    note: "Each dot is one run. The bar is the mean of a combination, rounded to what its repetitions allow.",
    body: throughput(page),
    columns,
  });
}
