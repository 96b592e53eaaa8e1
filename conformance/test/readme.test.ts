import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { rules } from "../src/rules.ts";
import { sections } from "../src/sections.ts";
import { readGolden } from "./golden-directory.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The cells of the table that begins with a column of this name. */
function tableOf(column: string): string[][] {
  const lines = readme.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${column} `));
  const rows = lines.slice(start + 2);
  return rows.slice(0, rows.indexOf("")).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

it("lists the rules as they are", () => {
  expect(tableOf("Rule")).toEqual(
    Object.entries(rules).map(([id, { go, here, reason }]) => [`\`${id}\``, go, here, reason]),
  );
});

it("lists uncompared values with the reasons", () => {
  expect(tableOf("Uncompared")).toEqual(
    sections.flatMap(({ file, unseen }) =>
      Object.entries(unseen).map(([field, why]) => [field, `\`${file}\``, why]),
    ),
  );
});

it("names every file, and the Go commits that it was recorded from", () => {
  const commits = new Map(tableOf("Source").map(([repo, commit]) => [repo, commit]));
  for (const file of sections.map(({ file }) => file)) {
    expect(readme).toContain(`\`${file}\``);
    const { go, upstream } = readGolden(file).header;
    expect(readme).toContain(go);
    for (const { repo, commit } of upstream)
      expect(commits.get(repo)).toBe(`\`${commit.slice(0, 12)}\``);
  }
});
