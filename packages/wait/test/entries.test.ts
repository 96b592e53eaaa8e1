import { readFileSync } from "node:fs";
import * as wait from "@holdfast/wait";
import { expect, it } from "vitest";

/** Those that a reader of a list of names can take in. */
const MOST = 20;

/** The names that an index exports, types too. */
function namesIn(path: string): string[] {
  const text = readFileSync(new URL(path, import.meta.url), "utf8");
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(",").flatMap((one) => one.trim().replace(/^type /, "") || []),
  );
}

it("the root of wait has at most 20 values, with those that everybody looks for there", () => {
  const names = Object.keys(wait);
  expect(names.length).toBeLessThanOrEqual(MOST);
  for (const name of ["retry", "poll", "Backoff", "Jitter", "jitter", "backoffUntil"])
    expect(names).toContain(name);
  expect(names).toContain("ExponentialBackoffManager");
  expect(names).toContain("JitteredBackoffManager");
});

it("the root of outbox has at most 20 exports, of types too", () => {
  const names = namesIn("../../outbox/src/index.ts");
  expect(names).toContain("Relay");
  expect(names.length).toBeLessThanOrEqual(MOST);
});
