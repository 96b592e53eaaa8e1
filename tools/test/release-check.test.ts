import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { budget, linesOfPackages, problemsOfBudget } from "../budget.mjs";
import { factsOfRepository, problemsOfRelease } from "../release-check.mjs";

const report = (...exports: string[]) => ["// @t/a\n// Made by it.", ...exports].join("\n\n");
const before = report("export function stop(): void;", 'export { Kept } from "@t/b";');
const after = report(
  "export function stop(now: boolean): void;",
  "export interface StopOptions {\n    readonly now: boolean;\n}",
);
const path = "packages/a/api/index.api.txt";

const facts = {
  repository: "https://forge.test/us/it",
  versions: { "@t/a": "1.3.0", "@t/b": "1.3.0" },
  changelog:
    "# Changelog\n\n## 1.3.0, 2026-11-23\n\n- `stop(now)` and `StopOptions`. `Kept` is gone.\n\n## 1.2.0, 2026-01-01\n\n- `other`\n",
  tag: "v1.3.0",
  lastVersion: "1.2.0",
  reports: [{ path, before, after }],
};

const isShallow = execFileSync("git", ["rev-parse", "--is-shallow-repository"], {
  encoding: "utf8",
});

describe("this repository", () => {
  it.skipIf(isShallow.trim() === "true")(
    "has the reports of every package, and a changelog",
    () => {
      const { versions, reports, changelog } = factsOfRepository();
      expect(Object.keys(versions)).toContain("@holdfast/cli");
      const paths = reports.filter(({ after }) => after !== "").map(({ path }) => path);
      expect(paths).toContain("packages/wait/api/index.api.txt");
      expect(paths).toContain("packages/fake-apiserver/api/fast-check.api.txt");
      expect(changelog).toMatch(/^## /m);
    },
  );
});

describe("the budget", () => {
  it("holds: no package has more lines of source than its number", () => {
    expect(problemsOfBudget(linesOfPackages(), budget())).toEqual([]);
  });

  it("fails for a package that has grown, one without a number, and a number without a package", () => {
    const problems = problemsOfBudget(
      { wait: 101, clock: 100, kit: 5 },
      { wait: 100, clock: 100, old: 9 },
    );
    expect(problems).toEqual([
      expect.stringMatching(
        /^packages\/wait has 101 lines of source, and 100 are allowed: remove 1, /,
      ),
      "packages/kit has no number in tools/budget.json",
      "tools/budget.json: packages/old is gone",
    ]);
  });
});

describe("a release", () => {
  it("passes when the changelog names every change of the public surface", () => {
    expect(problemsOfRelease(facts)).toEqual([]);
  });

  it("counts a change of an unexported base class as a change of the exported class", () => {
    const withBase = (method: string) =>
      report(
        `abstract class Base {\n    ${method}(): void;\n}`,
        "export class Shown extends Middle {\n}",
        "class Middle extends Base {\n}",
        "export class Other {\n}",
      );
    const reports = [{ path, before: withBase("step"), after: withBase("next") }];
    expect(problemsOfRelease({ ...facts, reports })).toEqual([
      `${path}: \`Shown\` has changed; CHANGELOG.md does not name it`,
    ]);
  });

  it("fails for each change that the changelog does not name", () => {
    const changelog =
      "# Changelog\n\n## 1.3.0, 2026-11-23\n\n- stop is `stopped`.\n\n## 1.2.0, 2026-01-01\n\n- `stop`\n";
    expect(problemsOfRelease({ ...facts, changelog })).toEqual([
      `${path}: \`stop\` has changed; CHANGELOG.md does not name it`,
      `${path}: \`Kept\` is gone; CHANGELOG.md does not name it`,
      `${path}: \`StopOptions\` is new; CHANGELOG.md does not name it`,
    ]);
  });

  it.each([
    {
      name: "no section for the version",
      changelog: "# Changelog\n\n## 1.2.0, 2026-01-01\n\n- a\n",
    },
    { name: "a section without a date", changelog: "## 1.3.0, unreleased\n\n- a\n" },
    {
      name: "a section without entries",
      changelog: "## 1.3.0, 2026-11-23\n\n## 1.2.0, 2026-01-01\n",
    },
  ])("fails with $name", ({ changelog }) => {
    expect(problemsOfRelease({ ...facts, changelog })).toEqual([
      'CHANGELOG.md needs a heading "## 1.3.0, YYYY-MM-DD", and entries below it',
    ]);
  });

  it("compares nothing before the first one", () => {
    const { lastVersion: _, ...first } = facts;
    const changelog = "## 1.3.0, 2026-11-23\n\n- everything\n";
    expect(problemsOfRelease({ ...first, changelog })).toEqual([]);
  });

  it("fails without a repository, with another tag, and with two versions", () => {
    expect(problemsOfRelease({ ...facts, repository: undefined, tag: "v1.3.1" })).toEqual([
      "set `repository` in the package.json of the root: provenance names it",
      "the tag v1.3.1 is not v1.3.0",
    ]);
    expect(problemsOfRelease({ ...facts, versions: { "@t/a": "1.3.0", "@t/b": "1.2.0" } })).toEqual(
      ['packages have different versions: {"@t/a":"1.3.0","@t/b":"1.2.0"}'],
    );
  });

  it("reads the name of every kind of export", () => {
    const kinds = [
      "export abstract class A {\n}",
      "export type B<T> = T;",
      "export const C: number;",
      "function d(): void;\nexport { d as D }",
      "export enum E {\n}",
    ];
    const reports = [{ path, before: report(), after: report(...kinds) }];
    const changelog = "## 1.3.0, 2026-11-23\n\n- nothing\n";
    const found = problemsOfRelease({ ...facts, changelog, reports });
    expect(found.map((problem) => /`(\w+)`/.exec(problem)?.[1])).toEqual(["A", "B", "C", "D", "E"]);
  });
});
