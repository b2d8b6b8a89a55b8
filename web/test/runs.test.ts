import { expect, it } from "vitest";
import type { RunLine } from "../src/serve/api";
import { sorted } from "../src/serve/runs";

const run = (label: string, queries_per_s: number | null): RunLine => ({ cell: 0, label, repetition: 1, started_at: "", queries_per_s, latency_ms_p99: 1, bottleneck: "flush" });
const runs = [run("16 connections", 5), run("8 connections", null), run("9 connections", 70)];
const labels = (order: Parameters<typeof sorted>[1]): string[] => sorted(runs, order).map(({ label }) => label.split(" ")[0] ?? "");

it("sorts runs by a column both ways and leaves what was not measured last", () => {
  expect(labels(null)).toEqual(["16", "8", "9"]);
  expect(labels({ key: "label", descending: false })).toEqual(["8", "9", "16"]);
  expect(labels({ key: "queries_per_s", descending: false })).toEqual(["16", "9", "8"]);
  expect(labels({ key: "queries_per_s", descending: true })).toEqual(["9", "16", "8"]);
});
