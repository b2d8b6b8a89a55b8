import { describe, expect, it } from "vitest";
import { page, text } from "./fixture";

describe("the page's JSON", () => {
  it("is what weir-report writes", () => {
    expect(page.cells).toHaveLength(4);
    expect(page.runs).toHaveLength(12);
    expect(page.flames[0]?.rows[0]?.function).toBe("buf_flush_page_cleaner");
    expect(page.answers.map((answer) => answer.verdict)).toEqual(["effect", "inconclusive", "effect", "invalid"]);
  });

  it("cannot end the script element that it stands in", () => {
    expect(text).not.toContain("<");
    expect(text).toContain("\\u003c/script");
    expect(page.variables.shared["init_connect"]).toContain("</script>");
  });
});
