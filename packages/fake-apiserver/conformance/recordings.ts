// The recordings of the real server's answers: a file for each group of scripts.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Json } from "./normal-form.ts";

/** Normal forms by the names of their scripts. */
export type Recording = Readonly<Record<string, Json>>;

/** Reads the recording of a group of scripts. */
export function readRecording(group: string): Recording {
  return JSON.parse(readFileSync(fileOf(group), "utf8"));
}

/** Writes the recording of a group of scripts: a line for each step, keys in order. */
export function writeRecording(group: string, recording: Recording): void {
  mkdirSync(new URL("recordings", import.meta.url), { recursive: true });
  const scripts = Object.entries(recording).map(([name, steps]) => {
    const lines = (steps as Json[]).map((step) => `    ${JSON.stringify(step)}`);
    return `  ${JSON.stringify(name)}: [\n${lines.join(",\n")}\n  ]`;
  });
  writeFileSync(fileOf(group), `{\n${scripts.join(",\n")}\n}\n`);
}

function fileOf(group: string): string {
  return fileURLToPath(new URL(`recordings/${group}.json`, import.meta.url));
}
