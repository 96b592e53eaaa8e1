import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Makes a folder that is removed after the tests of a file, or after one test with `onTestFinished`. */
export function tempFolder(after: (remove: () => void) => void = afterAll): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
