// Published claims beside what was measured here.

import { h } from "../dom";
import type { Answer, Page } from "../page";
import { show, table } from "../table";
import { section } from "./section";

export function claims(page: Page): HTMLElement | null {
  if (page.claims.length === 0) {
    return null;
  }
  const rows = page.claims.flatMap((claim) => {
    const found = claim.answers.map((index) => page.answers[index]).filter((answer) => answer !== undefined);
    return (found.length === 0 ? [null] : found).map((answer) => ({ claim, answer }));
  });
  return section(
    "claims",
    "What has been published?",
    table(
      [
        { title: "Source", values: rows.map(({ claim }) => claim.source) },
        { title: "Claim", values: rows.map(({ claim }) => claim.says) },
        { title: "Published", values: rows.map(({ claim }) => claim.value), show: show.each },
        { title: "Measured here", values: rows.map(({ answer }) => measured(answer)) },
        { title: "Where", values: rows.map(({ answer }) => answer?.context ?? null) },
        { title: "Published value is", values: rows.map(({ claim, answer }) => agreement(claim.value, answer)) },
      ],
      "Published claims",
    ),
    h("p", { class: "note" }, "Published figures hold for their own hardware, data and settings. A value outside the interval is a reason to compare the conditions, not a contradiction by itself."),
  );
}

function measured(answer: Answer | null): string | null {
  if (answer === null || answer.verdict === "invalid") {
    return answer === null ? "not measured" : "invalid";
  }
  return answer.interval_text === "" ? answer.ratio_text : `${answer.ratio_text} (${answer.interval_text})`;
}

/** Where the published value lies, seen from the interval that was measured. */
export function agreement(value: number, answer: Answer | null): string | null {
  if (answer === null || answer.verdict === "invalid" || answer.ratio_low === null || answer.ratio_high === null) {
    return null;
  }
  if (value < answer.ratio_low) {
    return "below the interval";
  }
  return value > answer.ratio_high ? "above the interval" : "inside the interval";
}
