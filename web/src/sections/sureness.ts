// How sure is it, and why: repetitions, order, and what the rules found.

import { h, prose } from "../dom";
import { count } from "../format";
import type { Page } from "../page";
import { repetitionsOf } from "../colors";
import { section } from "./section";

export function sureness(page: Page): HTMLElement {
  const repetitions = repetitionsOf(page).length;
  const method =
    `${count(page.runs.length, "run")} in ${count(repetitions, "repetition")}. Every repetition ran all combinations ` +
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
    findings.length === 0
      ? h("p", { class: "prose" }, "The rules found nothing to object to.")
      : h("ul", { class: "findings" }, ...findings),
  );
}
