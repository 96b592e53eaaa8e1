import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { publicPackages } from "../packages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");
const { scripts } = JSON.parse(read("package.json"));

interface Job {
  readonly uses?: string;
  readonly permissions?: Record<string, string>;
  readonly steps?: readonly { readonly run?: string }[];
}

const workflows = readdirSync(`${root}.github/workflows`).map((file) => {
  const { jobs }: { jobs: Record<string, Job> } = parse(read(`.github/workflows/${file}`));
  const runs = Object.values(jobs).flatMap(({ steps = [] }) =>
    steps.flatMap(({ run }) => run?.split("\n") ?? []),
  );
  return { file, jobs, runs };
});

describe("a workflow", () => {
  it.each(workflows)("runs commands that exist: $file", ({ runs }) => {
    const commands = runs.join("\n");
    const names = [...commands.matchAll(/npm run (\S+)/g)].map(([, name]) => name);
    expect(names.filter((name) => !Object.hasOwn(scripts, name ?? ""))).toEqual([]);
    const files = [...commands.matchAll(/(?:node |^)(tools\/\S+|\.ci\/\S+)/gm)].map(
      ([, file]) => file,
    );
    expect(files.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
  });

  it("checks everything with .ci/run, and a release begins with it", () => {
    const [ci, release] = workflows;
    expect(ci?.runs).toContain(".ci/run");
    expect(release?.jobs).toMatchObject({
      check: { uses: "./.github/workflows/ci.yml" },
      publish: { needs: "check", permissions: { "id-token": "write" } },
    });
  });

  it("publishes every public package with provenance, dependencies first", () => {
    const text = read(".github/workflows/release.yml");
    const published = /for package in (.*); do/.exec(text)?.[1]?.split(" ") ?? [];
    const packages = publicPackages();
    expect([...published].sort()).toEqual(
      packages.map(({ folder }) => folder.replace("packages/", "")).sort(),
    );
    for (const { folder, manifest } of packages) {
      const own = published.indexOf(folder.replace("packages/", ""));
      const dependencies = Object.keys(manifest.dependencies ?? {});
      for (const name of dependencies.filter((one) => one.startsWith("@holdfast/")))
        expect(published.slice(0, own)).toContain(name.replace("@holdfast/", ""));
    }
    expect(text).toContain("--provenance --access public");
  });
});

describe("the bug form", () => {
  it("offers every public package", () => {
    const { body } = parse(read(".github/ISSUE_TEMPLATE/bug.yml"));
    const field = body.find(({ id }: { id?: string }) => id === "package");
    const names = publicPackages().map(({ manifest }) => manifest.name);
    expect([...field.attributes.options].sort()).toEqual(names.sort());
  });
});

describe("SECURITY.md", () => {
  it("has every public package in scope", () => {
    const text = read("SECURITY.md");
    for (const { manifest } of publicPackages()) expect(text).toContain(`\`${manifest.name}\``);
  });
});
