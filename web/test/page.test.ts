import { describe, expect, it } from "vitest";
import { parsePage } from "../src/page";
import { page, text } from "./fixture";

describe("the page's JSON", () => {
  it("is what weir-report writes, key by key", () => {
    expect(page.cells).toHaveLength(4);
    expect(page.runs).toHaveLength(12);
    expect(page.answers.map((answer) => answer.verdict)).toEqual(["effect", "inconclusive", "effect", "invalid"]);
  });

  it("is refused with the place when a key is missing, unknown or of another type", () => {
    const changed = (change: (raw: Record<string, unknown>) => void): string => {
      const raw = JSON.parse(text) as Record<string, unknown>;
      change(raw);
      return JSON.stringify(raw);
    };
    expect(() => parsePage(changed((raw) => delete raw["runs"]))).toThrow(/`runs`/);
    expect(() => parsePage(changed((raw) => (raw["surprise"] = 1)))).toThrow(/`surprise`/);
    expect(() => parsePage(changed((raw) => (raw["seed"] = "7")))).toThrow(/`seed`/);
  });

  it("cannot end the script element that it stands in", () => {
    expect(text).not.toContain("<");
    expect(text).toContain("\\u003c/script");
    expect(page.variables.shared["init_connect"]).toContain("</script>");
  });
});
