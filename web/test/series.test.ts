import { describe, expect, it } from "vitest";
import { bottleneckText } from "../src/sections/limits";
import { everySecond, summary } from "../src/sections/time";
import { binRange, largest, onBins, runsOf, times } from "../src/series";
import type { RunView } from "../src/page";
import { page } from "./fixture";

function run(first_bin: number, values: (number | null)[]): RunView {
  const some = page.runs[0];
  if (some === undefined) {
    throw new Error("the fixture has runs");
  }
  return { ...some, series: { first_bin, queries_per_s: values, latency_ms_p99: values } };
}

describe("series", () => {
  it("of different lengths lie on the same bins", () => {
    const runs = [run(-2, [10, 20, 30]), run(0, [5, null, 7])];
    const range = binRange(runs);
    expect(range).toEqual([-2, 2]);
    expect(runs.map((one) => onBins(one, "queries_per_s", [-2, 2]))).toEqual([
      [10, 20, 30, null, null],
      [null, null, 5, null, 7],
    ]);
    expect(times([-2, 2], 5)).toEqual([-5, 0, 5, 10, 15]);
    expect(largest(runs, "latency_ms_p99")).toBe(30);
  });

  it("without a point have no range", () => {
    expect(binRange([run(0, [])])).toBeNull();
  });

  it("of a cell stand in the order of their repetitions", () => {
    expect(runsOf(page, 2).map((one) => one.repetition)).toEqual([1, 2, 3]);
  });

  it("are summed up without the warm-up", () => {
    const only = { ...page, cells: page.cells.slice(0, 1), runs: [{ ...run(-1, [1, 50, 70]), cell: 0 }] };
    const columns = summary(only);
    expect(columns.find((column) => column.title === "Lowest point")?.values).toEqual([50]);
    expect(columns.find((column) => column.title === "Highest point")?.values).toEqual([70]);
  });

  it("download as one row per point, warm-up included", () => {
    const columns = everySecond(page);
    const points = page.runs.reduce((sum, one) => sum + one.series.queries_per_s.length, 0);
    expect(columns.every((column) => column.values.length === points)).toBe(true);
    expect(Math.min(...(columns[2]?.values as number[]))).toBe(-19);
  });
});

describe("words about results", () => {
  it("say how many runs a bottleneck limited, if not all", () => {
    const cell = page.cells[0];
    if (cell === undefined || cell.bottleneck === null) {
      throw new Error("the fixture has a bottleneck");
    }
    expect(bottleneckText(cell)).toBe("drive write");
    expect(bottleneckText({ ...cell, bottleneck: { ...cell.bottleneck, repetitions: 2 } })).toBe("drive write (2 of 3 runs)");
  });
});
