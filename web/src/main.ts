// The report's page: reads the result that weir-report put into the file and builds the sections in
// the order of a reader's questions.

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import "./style/answers.css";
import "./style/figures.css";
import "./style/tables.css";
import "./style/narrow-and-print.css";
import { h } from "./dom";
import { parsePage } from "./page";
import { answers } from "./sections/answers";
import { claims } from "./sections/claims";
import { drive } from "./sections/drive";
import { header } from "./sections/header";
import { insights } from "./sections/insights";
import { limits } from "./sections/limits";
import { setup } from "./sections/setup";
import { sureness } from "./sections/sureness";
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
    const sections = [answers, insights, sureness, limits, time, drive, claims, setup]
      .map((section) => section(page))
      .filter((section) => section !== null);
    root.replaceChildren(header(page), ...sections);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    root.replaceChildren(
      h("p", { class: "failure" }, `The result in this file could not be read: ${message}. Make the report again with \`weir report\`.`),
    );
  }
}

show();
