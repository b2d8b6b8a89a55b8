// Published claims beside what was measured here.

import { h } from "../dom";
import type { Page } from "../page";
import { table } from "../table";
import { section } from "./section";

export function claims(page: Page): HTMLElement | null {
  const rows = page.claims;
  if (rows.length === 0) {
    return null;
  }
  return section(
    "claims",
    "What has been published?",
    table(
      [
        { title: "Source", values: rows.map((claim) => claim.source) },
        { title: "Claim", values: rows.map((claim) => claim.says) },
        { title: "Published", values: rows.map((claim) => claim.published) },
        { title: "Measured here", values: rows.map((claim) => claim.measured ?? "not measured") },
        { title: "Where", values: rows.map((claim) => claim.context) },
        { title: "Does it agree?", values: rows.map((claim) => claim.agreement_name) },
        { title: "Why", values: rows.map((claim) => claim.why) },
      ],
      "Published claims",
    ),
    h("p", { class: "note" }, "Published figures hold for their own hardware, data and settings. A value outside the interval is a reason to compare the conditions, not a contradiction by itself."),
  );
}
