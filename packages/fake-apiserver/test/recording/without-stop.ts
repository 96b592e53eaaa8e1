import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { openRecording, type Recording } from "@holdfast/controller/recording";
import { expect } from "vitest";

/** Cuts a recording before its stop, as that of a process that still runs or was killed. */
export async function withoutStop({ files: [path = ""] }: Recording): Promise<Recording> {
  const lines = gunzipSync(readFileSync(path)).toString().split("\n");
  const stop = lines.findIndex((line) => line.includes('"k":"S"'));
  expect(stop).toBeGreaterThan(0);
  writeFileSync(path, gzipSync(`${lines.slice(0, stop).join("\n")}\n`));
  return await openRecording(path);
}
