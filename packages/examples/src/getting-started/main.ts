import { readFile, writeFile } from "node:fs/promises";
import { mirror } from "./mirror.ts";

const pages = new Map([["example.html", "https://example.org/"]]);
const files = {
  read: (name: string) => readFile(name, "utf8").catch(() => undefined),
  write: (name: string, text: string) => writeFile(name, text),
};

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("SIGTERM")));
await mirror(pages, files).run(stop.signal);
