import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readData } from "../src/data-file.ts";

/** The golden data of this repository. */
export const shipped: string = fileURLToPath(new URL("../data", import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON, altered at will
type Json = any;

/** A temporary directory with shortened copies of golden data that a test alters. */
export class GoldenDirectory {
  readonly path: string = mkdtempSync(join(tmpdir(), "golden-"));

  /** Copies a file with a few cases per section, after `alter` has changed what it likes. */
  copy(name: string, alter: (golden: Json) => void = () => {}): this {
    const golden = readGolden(name);
    for (const [section, cases] of Object.entries(golden)) {
      if (!Array.isArray(cases)) continue;
      golden[section] = cases.slice(0, 20);
      golden.header.counts[section] = golden[section].length;
    }
    alter(golden);
    return this.write(name, JSON.stringify(golden));
  }

  write(name: string, text: string): this {
    writeFileSync(join(this.path, name), text);
    return this;
  }
}

/** A file of golden data as it is. */
export function readGolden(name: string): Json {
  return JSON.parse(readData(shipped, name).toString());
}
