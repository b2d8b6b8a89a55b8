import { expect, it } from "vitest";
import { logTicks } from "../src/lines";
import { runAddress, runOfAddress } from "../src/run-page";
import { bucketTimes, timelineColumns } from "../src/run-view";

it("has an address for each run and for no other", () => {
  expect(runOfAddress(runAddress(2), 3)).toBe(2);
  for (const hash of ["#run-0", "#run-4", "#run-x", "#answer", ""]) {
    expect(runOfAddress(hash, 3)).toBeNull();
  }
});

it("draws buckets at their middles, and gives them as columns", () => {
  const timeline = { start_s: -2, step_s: 2, buckets: 3, mean: [[[1, null, 3], [5]]] };
  expect(bucketTimes(timeline)).toEqual([-1, 1, 3]);
  const columns = timelineColumns([{ group: "", title: "Bytes", unit: "MB/s", series: ["read", "written"] }], timeline);
  expect(columns.map(({ title }) => title)).toEqual(["Time since the measurement began", "Bytes: read", "Bytes: written"]);
  expect(columns[1]?.values).toEqual([1, null, 3]);
  expect(columns[2]?.values).toEqual([5, 5, 5]);
});

it("has few ticks on a long logarithmic axis and enough on a short one", () => {
  expect(logTicks(0.5, 900)).toEqual([1, 10, 100]);
  expect(logTicks(15, 120)).toEqual([20, 50, 100]);
});
