// Title, question and what was run where.

import { h } from "../dom";
import { count, moment } from "../format";
import type { Page } from "../page";
import { repetitionsOf } from "../colors";

export function header(page: Page): HTMLElement {
  const facts = [
    page.server,
    `${count(page.cells.length, "combination")} \u00d7 ${count(repetitionsOf(page).length, "repetition")}`,
    moment(page.started_at),
    ...dataPlace(page),
  ];
  return h(
    "header",
    {},
    h("p", { class: "eyebrow" }, "Weir study report"),
    h("h1", {}, page.title),
    h("p", { class: "question" }, page.question),
    h("p", { class: "facts" }, ...facts.map((fact) => h("span", {}, fact))),
  );
}

/** `data on disk: /var/tmp (ext4 on nvme0n1)`: what the storage was decides what the numbers are of. Nothing for a server of the user's own. */
function dataPlace(page: Page): string[] {
  const place = page.setup.host["data"];
  return place === undefined ? [] : [`data ${place}`];
}
