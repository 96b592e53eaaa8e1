import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// A URL path is the path below src or dist, so the imports of the scripts resolve in the browser too.
const SOURCES = new URL("../../src/", import.meta.url);
const BUILT = new URL("../../dist/", import.meta.url);
const LIT = new URL(
  "../lit-html.js",
  pathToFileURL(createRequire(import.meta.url).resolve("lit-html")),
);

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** The files of one page, and those that all pages share. */
export class PageFiles {
  readonly #page: URL;
  readonly #files: readonly { readonly path: RegExp; readonly root: URL }[];

  /** @param folder - the folder of the page below `src`, such as `"supervisor/web/page"` */
  constructor(folder: string) {
    this.#page = new URL(`${folder}/index.html`, SOURCES);
    this.#files = [
      { path: new RegExp(`^/(${folder}|web/page)/[a-z-]+\\.(css|svg)$`), root: SOURCES },
      {
        path: new RegExp(`^/((${folder}|web/page)/[a-z-]+|terminal/duration)\\.js$`),
        root: BUILT,
      },
    ];
  }

  /** A file and its type; undefined for a path that the page does not have. */
  read(path: string): { readonly type: string; readonly body: string } | undefined {
    const file = this.#fileOf(path);
    if (file === undefined) return undefined;
    const type = TYPES[file.pathname.split(".").at(-1) ?? ""] ?? "text/plain";
    try {
      return { type, body: readFileSync(file, "utf8") };
    } catch {
      return undefined;
    }
  }

  /** The content security policy: the page runs its own scripts, and talks to its own server. */
  get policy(): string {
    const html = readFileSync(this.#page, "utf8");
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

  #fileOf(path: string): URL | undefined {
    if (path === "/") return this.#page;
    if (path === "/lit-html.js") return LIT;
    const found = this.#files.find((files) => files.path.test(path));
    return found && new URL(`.${path}`, found.root);
  }
}
