// A figure: its title, what it shows, and its numbers as a table and as a download.

import { fold, h } from "./dom";
import { fileName } from "./format";
import { csv, table, type Column } from "./table";

export interface Figure {
  title: string;
  /** How to read it, in a sentence. */
  note: string;
  body: Node;
  /** The numbers that the figure shows. */
  columns: readonly Column[];
  /** What is downloaded, if it is more than the table shows. */
  download?: () => readonly Column[];
}

/** A figure with its data table and download under it. */
export function figure(study: string, content: Figure): HTMLElement {
  return h(
    "figure",
    {},
    h("figcaption", {}, h("h3", {}, content.title), h("p", {}, content.note)),
    content.body,
    fold({ class: "data" }, "Data of this figure", () => [
      table(content.columns, `Data: ${content.title}`),
      downloadButton(study, content.title, content.download ?? (() => content.columns)),
    ]),
  );
}

/** A button that saves `columns` as a CSV file. */
export function downloadButton(
  study: string,
  title: string,
  columns: () => readonly Column[],
): HTMLElement {
  const button = h("button", { type: "button", class: "download" }, "Download CSV");
  button.addEventListener("click", () => {
    const blob = new Blob([csv(columns())], { type: "text/csv;charset=utf-8" });
    const address = URL.createObjectURL(blob);
    h("a", { href: address, download: fileName(study, title) }).click();
    // The browser has taken the blob by the next turn of its event loop at the latest.
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  return button;
}
