// What every section looks like.

import { h } from "../dom";

/** A section with its heading; the heading is the reader's question. */
export function section(id: string, title: string, ...children: (Node | string | null)[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}
