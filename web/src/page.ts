// The JSON that weir-report writes into the page. Its types are made of Weir's, and page and JSON come from
// one program, so that it is taken as it is.

import type { Page, Spread as Known } from "./types";

export type { Answer, CellSummary, CellTraffic, GapView, Page, PredictedThroughput, RankedFindings, RunView, Sweep } from "./types";

/** A value with the lowest and the highest repetition, where there is one. */
export type Spread = Known | null;

/** What stands for all repetitions. */
export const middle = (value: Spread | undefined): number | null => value?.[0] ?? null;

/** Reads the page's JSON. */
export const parsePage = (text: string): Page => JSON.parse(text) as Page;
