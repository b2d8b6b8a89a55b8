// One tooltip for all figures: shown by pointer and by keyboard focus, hidden by Escape.

import { h } from "./dom";

let element: HTMLElement | undefined;

function tooltip(): HTMLElement {
  if (element === undefined) {
    element = h("div", { class: "tooltip", role: "status", hidden: true });
    document.body.append(element);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        hide();
      }
    });
  }
  return element;
}

function hide(): void {
  tooltip().hidden = true;
}

function show(anchor: Element, lines: readonly string[]): void {
  const tip = tooltip();
  const [first = "", ...rest] = lines;
  tip.replaceChildren(h("strong", {}, first), ...rest.map((line) => h("span", {}, line)));
  tip.hidden = false;
  const target = anchor.getBoundingClientRect();
  const size = tip.getBoundingClientRect();
  const middle = target.left + target.width / 2 - size.width / 2;
  const left = Math.max(8, Math.min(middle, document.documentElement.clientWidth - size.width - 8));
  const above = target.top - size.height - 8;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${(above > 0 ? above : target.bottom + 8) + window.scrollY}px`;
}

/** Shows `lines` while the pointer is over `mark` or the keyboard is on it. */
export function explain(mark: SVGElement, lines: readonly string[], anchor: Element = mark): void {
  mark.setAttribute("aria-label", lines.join(", "));
  for (const event of ["pointerenter", "focus"]) {
    mark.addEventListener(event, () => show(anchor, lines));
  }
  for (const event of ["pointerleave", "blur"]) {
    mark.addEventListener(event, hide);
  }
}
