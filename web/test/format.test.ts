import { describe, expect, it } from "vitest";
import { aligned, count, fileName, meanWithin, moment, NOTHING, number, percents, sentence, tick } from "../src/format";

describe("numbers", () => {
  it("have three significant digits and all of their whole part", () => {
    expect([4482.39, 123.4, 12.345, 1.2345, 0.12345, 0, -56.78].map(number)).toEqual([
      "4,482", "123", "12.3", "1.23", "0.123", "0", "-56.8",
    ]);
    expect(number(null)).toBe(NOTHING);
  });

  it("align in a column by the digits of the largest", () => {
    expect(aligned([111, 85.04, null])).toEqual(["111", "85", NOTHING]);
    expect(aligned([1.5, 0.44])).toEqual(["1.50", "0.44"]);
    expect(aligned([0, null])).toEqual(["0", NOTHING]);
  });

  it("are per cent with a decimal only where all are small", () => {
    expect(percents([0.98, 0.04, null])).toEqual(["98", "4", NOTHING]);
    expect(percents([0.004, 0.083])).toEqual(["0.4", "8.3"]);
  });

  it("are ticks without zeros behind the point", () => {
    expect([10, 0.5, -20, 6000].map(tick)).toEqual(["10", "0.5", "-20", "6,000"]);
  });
});

describe("a mean", () => {
  it("has no digit finer than a tenth of its range", () => {
    expect(meanWithin(4518.37, 4496, 4545)).toBe("4,518");
    expect(meanWithin(6057.6, 5951, 6137)).toBe("6,060");
    expect(meanWithin(6057.6, 5000, 7000)).toBe("6,100");
    expect(meanWithin(12.3456, 12.2, 12.5)).toBe("12.35");
  });

  it("of one run, or of none, is not rounded further", () => {
    expect(meanWithin(4518.37, 4518.37, 4518.37)).toBe("4,518");
    expect(meanWithin(null, null, null)).toBe(NOTHING);
  });
});

describe("words", () => {
  it("show a moment to the minute and leave other text alone", () => {
    expect(moment("2026-03-14T09:26:53Z")).toBe("2026-03-14 09:26 UTC");
    expect(moment("2026-03-14T09:26:53.12+02:00")).toBe("2026-03-14 09:26 +02:00");
    expect(moment("yesterday")).toBe("yesterday");
  });

  it("count in the plural but for one", () => {
    expect([1, 2, 1200].map((amount) => count(amount, "run"))).toEqual(["1 run", "2 runs", "1,200 runs"]);
  });

  it("begin with a capital unless a name stands first", () => {
    expect(sentence("from 1G to 2G")).toBe("From 1G to 2G.");
    expect(sentence("intel-p4610 does")).toBe("intel-p4610 does.");
  });

  it("make file names of titles", () => {
    expect(fileName("A/B <study>", "p99, ms")).toBe("a-b-study-p99-ms.csv");
  });
});
