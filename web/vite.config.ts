import { defineConfig } from "vite";
import { singleFile } from "./single-file.ts";

// One bundle per page: `--mode report` and `--mode serve`.
export default defineConfig(({ mode }) => ({
  // The page of `weir serve` asks the server that it came from; a report asks nobody.
  plugins: [singleFile({ connects: mode === "serve" })],
  build: {
    target: "es2022",
    modulePreload: false,
    emptyOutDir: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    rollupOptions: { input: `${mode}.html` },
  },
}));
