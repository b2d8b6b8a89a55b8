// Colour means the same everywhere: repetitions in one order, kinds of file in another.
//
// Both come from the palette of Okabe and Ito (2008), which people with any colour vision tell
// apart; style/page.css holds the values for light and dark.

import type { Page } from "./page";

const COLORS = 7;
const KINDS = ["data", "doublewrite", "redo log", "undo", "binary log", "temporary", "other"];

/** The class that gives a repetition's marks their colour. */
export function repetitionClass(repetition: number): string {
  return `c${(repetition - 1) % COLORS}`;
}

/** The class that gives a kind of file its colour. */
export function kindClass(kind: string): string {
  const index = KINDS.indexOf(kind);
  return `k${index < 0 ? KINDS.length - 1 : index}`;
}

/** Kinds of file in the order in which bars stack them. */
export const kindOrder = (kind: string): number => KINDS.indexOf(kind);

/** All repetitions that a page has, ascending. */
export function repetitionsOf(page: Page): number[] {
  return [...new Set(page.runs.map((run) => run.repetition))].sort((a, b) => a - b);
}

/** The value of a custom property of the style sheet, for canvases, which know no classes. */
export function property(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
