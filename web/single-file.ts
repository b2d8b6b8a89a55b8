// Puts the built script and style into the HTML file, with a policy that lets nothing else run.
//
// The policy names the hashes of exactly this script and this style: text of a study that got into
// the page as markup by mistake could neither run nor load anything.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const hash = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export function singleFile({ connects }: { connects: boolean }): Plugin {
  return {
    name: "weir-single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const parts = Object.values(bundle);
      const code = parts.map((part) => (part.type === "chunk" ? part.code : "")).join("\n");
      const styles = parts
        .map((part) => (part.fileName.endsWith(".css") && part.type === "asset" ? String(part.source) : ""))
        .join("\n");
      // Inside a script element these two sequences would end or change it; in JavaScript they
      // stand only in strings, where the backslash means nothing.
      const script = code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
      const policy = [
        "default-src 'none'",
        // Flame graphs that the page itself has.
        "img-src data:",
        `script-src ${hash(script)}`,
        `style-src ${hash(styles)}`,
        ...(connects ? ["connect-src 'self'"] : []),
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      for (const part of parts) {
        if (part.type === "asset" && part.fileName.endsWith(".html")) {
          part.source = String(part.source)
            .replace(/\s*<script type="module"[^>]*><\/script>/, "")
            .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
            .replace(
              "<title>",
              () => `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n    <title>`,
            )
            .replace("</head>", () => `  <style>${styles}</style>\n  </head>`)
            .replace("</body>", () => `  <script type="module">${script}</script>\n  </body>`);
        } else {
          delete bundle[part.fileName];
        }
      }
    },
  };
}
