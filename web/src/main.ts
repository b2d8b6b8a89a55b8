// The report's page: reads the result that weir-report put into the file and builds the sections in
// the order of a reader's questions.

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import "./style/answers.css";
import "./style/figures.css";
import "./style/tables.css";
import "./style/narrow-and-print.css";
import { h } from "./dom";
import { parsePage, type Page } from "./page";
import { runOfAddress, runPage } from "./run-page";
import { answers } from "./sections/answers";
import { claims } from "./sections/claims";
import { costs } from "./sections/costs";
import { drive } from "./sections/drive";
import { flames } from "./sections/flames";
import { header } from "./sections/header";
import { insights } from "./sections/insights";
import { limits } from "./sections/limits";
import { predicted } from "./sections/predicted";
import { resources } from "./sections/resources";
import { screen } from "./sections/screen";
import { setup } from "./sections/setup";
import { statements } from "./sections/statements";
import { sureness } from "./sections/sureness";
import { sweeps } from "./sections/sweeps";
import { time } from "./sections/time";

function show(): void {
  const root = document.getElementById("report");
  const text = document.getElementById("weir-result")?.textContent ?? "";
  if (root === null) {
    return;
  }
  if (text.trim() === "") {
    root.replaceChildren(h("p", { class: "failure" }, "This is the empty page of a report: it holds no result. Make one with `weir report`."));
    return;
  }
  try {
    const page = parsePage(text);
    document.title = `${page.title} \u2013 Weir report`;
    const report = h("div", {}, answers(page));
    inTurns(report, [screen, statements, sweeps, predicted, insights, costs, sureness, limits, time, resources, drive, claims, setup, flames].map((section) => () => section(page)));
    const run = h("div", { hidden: true });
    root.replaceChildren(header(page), report, run);
    addEventListener("hashchange", () => turn(page, report, run));
    turn(page, report, run);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    root.replaceChildren(
      h("p", { class: "failure" }, `The result in this file could not be read: ${message}. Make the report again with \`weir report\`.`),
    );
  }
}

/** Adds what `makers` make, one after the other, so that the reader never waits for all of them. */
function inTurns(report: HTMLElement, makers: (() => HTMLElement | null)[]): void {
  const make = (): void => {
    const made = makers.shift()?.() ?? null;
    if (made !== null) {
      report.append(made);
    }
  };
  const turn = (): void => {
    make();
    if (makers.length > 0) {
      setTimeout(turn);
    }
  };
  setTimeout(turn);
  addEventListener("beforeprint", () => {
    while (makers.length > 0) {
      make();
    }
  });
}

/** Shows the report or, if the address names one, a run; the place in the report is kept. */
function turn(page: Page, report: HTMLElement, run: HTMLElement): void {
  const index = runOfAddress(location.hash, page.runs.length);
  const made = index === null ? null : runPage(page, index);
  if (made === null && !run.hidden) {
    run.replaceChildren();
    run.hidden = true;
    report.hidden = false;
    scrollTo(0, left);
  } else if (made !== null) {
    if (run.hidden) {
      left = scrollY;
    }
    report.hidden = true;
    run.hidden = false;
    run.replaceChildren(made);
    scrollTo(0, 0);
  }
}

/** Where the reader was in the report before turning to a run. */
let left = 0;

show();
