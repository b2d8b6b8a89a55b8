import { defineConfig } from "vitest/config";

export default defineConfig({
  // One browser at a time, and time enough for a busy machine.
  test: {
    include: ["browser/*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
