import { expect, it } from "vitest";
import type { Summary } from "../src/serve/api";
import { matching } from "../src/serve/history";
import { trendsOf } from "../src/serve/trends";

function result(title: string, more: Partial<Summary> = {}): Summary {
  return {
    name: "a",
    title,
    question: "",
    server: "MySQL 9.7",
    drives: ["Intel P4610"],
    started_at: "",
    runs: 1,
    runs_planned: 1,
    headline: "",
    verdict: null,
    comparison: "",
    ratio: null,
    ratio_low: null,
    ratio_high: null,
    problem: null,
    ...more,
  };
}

it("finds results in which every word occurs, wherever it stands", () => {
  const all = [result("Doublewrite"), result("Doublewrite", { server: "MariaDB 10.11" }), result("Memory")];
  expect(matching(all, "")).toHaveLength(3);
  expect(matching(all, " mysql  DOUBLE ")).toEqual([all[0]]);
  expect(matching(all, "p4610 mariadb")).toEqual([all[1]]);
  expect(matching(all, "none")).toEqual([]);
});

it("takes the same comparison of the same study as one trend, the oldest result first", () => {
  const measured = (title: string, comparison: string, ratio: number, verdict: Summary["verdict"] = "effect") =>
    result(title, { comparison, ratio, verdict });
  const latest_first = [
    measured("A", "off / on", 1.9),
    measured("A", "b / a", 1.1),
    measured("B", "off / on", 1.2),
    measured("A", "off / on", 9, "invalid"),
    result("A"),
    measured("A", "off / on", 1.7),
  ];
  const trends = trendsOf(latest_first);
  expect(trends.map(({ title, comparison }) => [title, comparison])).toEqual([["A", "off / on"]]);
  expect(trends[0]?.results.map(({ ratio }) => ratio)).toEqual([1.7, 9, 1.9]);
});
