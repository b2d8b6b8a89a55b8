import { describe, expect, it } from "vitest";
import { ratioDomain, ratioTicks } from "../src/scales";

describe("the axis of ratios", () => {
  it("always has 1 in it, with air on both sides", () => {
    const [low, high] = ratioDomain([1.24, 1.39]);
    expect(low).toBeLessThan(1);
    expect(high).toBeGreaterThan(1.39);
    expect(ratioDomain([])[0]).toBeLessThan(1);
  });

  it("has even ticks over a short range and 1-2-5 over a long one, 1 among them", () => {
    expect(ratioTicks([0.95, 1.45], 5)).toEqual([1, 1.1, 1.2, 1.3, 1.4]);
    expect(ratioTicks([0.1, 12], 5)).toEqual([0.1, 0.2, 0.5, 1, 2, 5, 10]);
    expect(ratioTicks([0.7, 2.6], 3)).toContain(1);
  });
});
