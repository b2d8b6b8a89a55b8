import { defineConfig } from "vite";
import { singleFile } from "./single-file.ts";

export default defineConfig({
  plugins: [singleFile()],
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    rollupOptions: { input: "report.html" },
  },
});
