import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The paths are those of the sources, so that the scripts of the page find each other.
const SOURCES = new URL("../../../src/supervisor/", import.meta.url);
const BUILT = new URL("../../../dist/supervisor/", import.meta.url);
const LIT = new URL(
  "../lit-html.js",
  pathToFileURL(createRequire(import.meta.url).resolve("lit-html")),
);

const PAGE = new URL("web/page/index.html", SOURCES);
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};
const FILES: readonly { readonly path: RegExp; readonly root: URL }[] = [
  { path: /^\/web\/page\/[a-z-]+\.(css|svg)$/, root: SOURCES },
  { path: /^\/(web\/page\/[a-z-]+|manifest\/duration)\.js$/, root: BUILT },
];

function fileOf(path: string): URL | undefined {
  if (path === "/") return PAGE;
  if (path === "/lit-html.js") return LIT;
  const found = FILES.find((files) => files.path.test(path));
  return found && new URL(`.${path}`, found.root);
}

/** @returns the file of the page with this path and its type, or undefined if there is none */
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
