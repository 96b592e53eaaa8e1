import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../../../../", import.meta.url);

/** Codes that the sources of the published packages assign to an error. */
function codesOf(folder: string): string[] {
  const path = new URL(`packages/${folder}/src/`, root);
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(new URL(file, path), "utf8"))
    .flatMap((text) => [...text.matchAll(/\b(?:\w*CODE|code) = "(ERR_[A-Z_]+)"/g)])
    .map(([, code = ""]) => code);
}

const codes = [
  "kit",
  "clock",
  "wait",
  "controller",
  "explore",
  "outbox",
  "kubernetes",
  "fake-apiserver",
].flatMap(codesOf);
const guide = readFileSync(new URL("docs/errors.md", root), "utf8");
const rows = guide.split("\n").filter((line) => line.startsWith("| `ERR_"));

it("the guide has a row for each error code of the packages, and no other", () => {
  expect(codes.length).toBeGreaterThan(15);
  const listed = rows.map((row) => /`(ERR_[A-Z_]+)`/.exec(row)?.[1]);
  expect(listed.sort()).toEqual([...new Set(codes)].sort());
});

it.each(rows)("has a cause and a cure: %s", (row) => {
  const [, , cause = "", cure = ""] = row.split("|");
  expect(cause.trim()).not.toBe("");
  expect(cure.trim()).not.toBe("");
});
