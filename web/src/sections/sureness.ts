// How sure is it, and why: repetitions, order, and what the rules found.

import { h, prose } from "../dom";
import { count, number, sentence } from "../format";
import type { Page } from "../page";
import { repetitionsOf } from "../colors";
import { section } from "./section";

/** Comparisons from which on chance alone is likely to show a difference somewhere. */
const MANY = 5;

/** A reminder of what 95 % means when many comparisons are made at once. */
function chance(page: Page): HTMLElement | null {
  const made = page.answers.filter((answer) => answer.ratio_low !== null && answer.verdict !== "invalid").length;
  if (made < MANY) {
    return null;
  }
  return h(
    "p",
    { class: "prose" },
    `${made} comparisons were made, each with an interval of 95 %. If nothing made a difference, ` +
      `${number(made * 0.05)} of them would be expected to show one by chance: trust what repeats across combinations.`,
  );
}

export function sureness(page: Page): HTMLElement {
  const repetitions = repetitionsOf(page).length;
  const missing = page.cells.filter((cell) => cell.repetitions < repetitions).map((cell) => cell.label);
  const method =
    `${count(page.runs.length, "run")} in ${count(repetitions, "repetition")}. Each repetition takes all combinations ` +
    `once, in an order drawn from seed ${page.seed}. A comparison pairs the runs of the same repetition, so that ` +
    `what drifts on the host cancels; its interval comes from the spread between repetitions, not from the seconds within a run.`;
  const findings = page.findings.map((finding) =>
    h(
      "li",
      { class: finding.severity },
      h("span", { class: "rule" }, finding.rule),
      h(
        "div",
        {},
        prose(finding.message, h("span", { class: "severity" }, `${finding.severity_name}: `)),
        finding.concerns.length === 0
          ? h("p", { class: "concerns" }, "Concerns the whole study.")
          : h("p", { class: "concerns" }, `Concerns ${finding.concerns.join("; ")}.`),
      ),
    ),
  );
  return section(
    "sureness",
    "How sure is it, and why?",
    h("p", { class: "prose" }, method),
    chance(page),
    missing.length === 0
      ? null
      : h("p", { class: "caution" }, `Not all repetitions were completed for ${missing.join("; ")}.`),
    findings.length === 0
      ? h("p", { class: "prose" }, "The rules found nothing to object to.")
      : h("ul", { class: "findings" }, ...findings),
    ...page.not_measured.map((text) => h("div", { class: "prose" }, prose(sentence(text)))),
  );
}
