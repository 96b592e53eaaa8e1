import { readFile, writeFile } from "node:fs/promises";
import { mirror } from "./mirror.ts";

const pages = new Map([["example.html", "https://example.org/"]]);
const files = {
  async read(name: string) {
    try {
      return await readFile(name, "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error; // the controller logs it, and retries
    }
  },
  write: (name: string, text: string) => writeFile(name, text),
};

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("SIGTERM")));
await mirror(pages, files).run(stop.signal);
