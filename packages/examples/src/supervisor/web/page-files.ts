import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// A URL path is the path below src or dist, so the imports of the scripts resolve in the browser too.
const SOURCES = new URL("../../../src/", import.meta.url);
const BUILT = new URL("../../../dist/", import.meta.url);
const LIT = new URL(
  "../lit-html.js",
  pathToFileURL(createRequire(import.meta.url).resolve("lit-html")),
);

const PAGE = new URL("supervisor/web/page/index.html", SOURCES);
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};
const FILES: readonly { readonly path: RegExp; readonly root: URL }[] = [
  { path: /^\/supervisor\/web\/page\/[a-z-]+\.(css|svg)$/, root: SOURCES },
  { path: /^\/(supervisor\/web\/page\/[a-z-]+|terminal\/duration)\.js$/, root: BUILT },
];

function fileOf(path: string): URL | undefined {
  if (path === "/") return PAGE;
  if (path === "/lit-html.js") return LIT;
  const found = FILES.find((files) => files.path.test(path));
  return found && new URL(`.${path}`, found.root);
}

/** A file of the page and its type; undefined for a path that the page does not have. */
export function pageFile(
  path: string,
): { readonly type: string; readonly body: string } | undefined {
  const file = fileOf(path);
  if (file === undefined) return undefined;
  const type = TYPES[file.pathname.split(".").at(-1) ?? ""] ?? "text/plain";
  try {
    return { type, body: readFileSync(file, "utf8") };
  } catch {
    return undefined;
  }
}

/** What the page may do: run its own scripts, and talk to its own server. */
export function contentSecurityPolicy(): string {
  const html = readFileSync(PAGE, "utf8");
  const [, importMap = ""] = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html) ?? [];
  const hash = createHash("sha256").update(importMap).digest("base64");
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
