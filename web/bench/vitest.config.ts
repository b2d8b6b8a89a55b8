import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["bench/*.bench.ts"], fileParallelism: false, testTimeout: 1_800_000, hookTimeout: 600_000 },
});
