import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { publishedManifest } from "../build.mjs";
import { publicPackages } from "../packages.mjs";
import { problemsOfFiles, problemsOfManifest, problemsOfReadme } from "../packed.mjs";
import { readmeForRegistry, repositoryFields } from "../registry-page.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const URL_OF_TEST = "https://forge.test/us/it";

const exports = {
  ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
  "./package.json": "./package.json",
};

describe("the README of a package on a registry", () => {
  const where = { folder: "packages/clock", version: "1.2.3" };
  const text =
    "See [the `wait`](../wait/README.md#x), ![a](../../docs/a.svg) and [b](https://b.test).";

  it("links to the tag of the release", () => {
    expect(readmeForRegistry(text, { ...where, url: URL_OF_TEST })).toBe(
      `See [the \`wait\`](${URL_OF_TEST}/blob/v1.2.3/packages/wait/README.md#x), ` +
        `![a](${URL_OF_TEST}/raw/v1.2.3/docs/a.svg) and [b](https://b.test).`,
    );
  });

  it("has text instead of links while no repository is configured", () => {
    expect(readmeForRegistry(text, { ...where, url: undefined })).toBe(
      "See the `wait`, a and [b](https://b.test).",
    );
  });

  it("keeps code as it is", () => {
    const code = "```ts\nconst [a](b) = 1;\n```\n";
    expect(readmeForRegistry(code, { ...where, url: undefined })).toBe(code);
  });

  it.each(publicPackages().map(({ folder }) => folder))("of %s has no dead link", (folder) => {
    const own = readFileSync(`${root}${folder}/README.md`, "utf8");
    for (const url of [undefined, URL_OF_TEST])
      expect(problemsOfReadme(readmeForRegistry(own, { folder, version: "1.2.3", url }))).toEqual(
        [],
      );
  });

  it("is refused with a dead link", () => {
    expect(problemsOfReadme("[a](#b) [c](../d.md)\n\n[e]: ./f.md\n")).toEqual([
      "README.md links to ../d.md, which a registry page cannot open",
      "README.md links to ./f.md, which a registry page cannot open",
    ]);
  });
});

describe("the repository", () => {
  it("is in no manifest while none is configured", () => {
    expect(repositoryFields("packages/clock", undefined)).toEqual({});
  });

  it("is in each manifest with the folder of the package", () => {
    expect(repositoryFields("packages/clock", URL_OF_TEST)).toEqual({
      repository: { type: "git", url: `git+${URL_OF_TEST}.git`, directory: "packages/clock" },
      homepage: `${URL_OF_TEST}/tree/main/packages/clock#readme`,
      bugs: `${URL_OF_TEST}/issues`,
    });
  });
});

describe("a published manifest", () => {
  it.each(publicPackages())(
    "of $folder has nothing that only this workspace reads",
    ({ manifest }) => {
      const { dependencies, ...rest } = publishedManifest(manifest, {});
      // pnpm replaces `workspace:~` and `catalog:` while it packs; the step "packages" of the check looks at the tarballs.
      const replaced = Object.fromEntries(
        Object.entries(dependencies ?? {}).map(([name, range]) => [
          name,
          String(range).replace(/^(workspace:~|catalog:)$/, "~1.0.0"),
        ]),
      );
      expect(problemsOfManifest({ ...rest, dependencies: replaced })).toEqual([]);
    },
  );

  it("is refused without what a registry and a user need", () => {
    const manifest = {
      dependencies: { "@holdfast/clock": "^1.0.0", other: "catalog:" },
      exports: { ".": { "@holdfast/source": "./src/index.ts" } },
      publishConfig: { access: "public" },
    };
    expect(problemsOfManifest(manifest)).toEqual([
      "package.json says catalog:, which only this workspace reads",
      "package.json says @holdfast/source, which only this workspace reads",
      "@holdfast/clock is ^1.0.0; only ~ keeps our packages in step",
      "package.json has no description",
      "package.json has no keywords",
      "package.json has no license",
      "package.json has no engines",
      "publishConfig needs access public and provenance true",
      "exports hides package.json",
    ]);
  });
});

describe("the files of a tarball", () => {
  const files = {
    LICENSE: "",
    NOTICE: "",
    "README.md": "",
    "package.json": "",
    "dist/index.js": "export const a = 1;\n",
    "dist/index.js.map": '{"sources":["../src/index.ts"]}',
    "dist/index.d.ts": "",
    "src/index.ts": "",
  };
  const problemsOf = (contents: Record<string, string>) =>
    problemsOfFiles(
      Object.keys(contents),
      { name: "@holdfast/a", exports },
      (file: string) => contents[file] ?? "",
    );

  it("are accepted when they reference one another", () => {
    expect(problemsOf(files)).toEqual([]);
  });

  it("are refused when one is missing", () => {
    const { NOTICE: _, "dist/index.d.ts": __, ...others } = files;
    expect(problemsOf(others)).toEqual(["NOTICE is missing", "dist/index.d.ts is missing"]);
  });

  it("are refused when a command does not say that Node runs it", () => {
    const bin = { it: "./dist/bin/main.js" };
    const more = { ...files, "dist/bin/main.js.map": '{"sources":[]}', "dist/bin/main.js": "" };
    const problems = (text: string) =>
      problemsOfFiles(Object.keys(more), { exports, bin }, (file: string) =>
        file === "dist/bin/main.js" ? text : ((more as Record<string, string>)[file] ?? ""),
      );
    expect(problems("#!/usr/bin/env node\nrun();\n")).toEqual([]);
    expect(problems("run();\n")).toEqual([
      "dist/bin/main.js does not begin with #!/usr/bin/env node",
    ]);
  });

  it("are refused when code has no map, unless it only passes on", () => {
    const { "dist/index.js.map": _, ...others } = files;
    expect(problemsOf(others)).toEqual(["dist/index.js has no source map"]);
    const passing = 'import { a } from "./shared/a.js";\nexport { a };\n';
    expect(problemsOf({ ...others, "dist/index.js": passing })).toEqual([]);
  });

  it("are refused when a source is in two bundles, because its classes would be two", () => {
    const more = {
      "dist/shared/a.js": "export {};\n",
      "dist/shared/a.js.map": '{"sources":["../../src/index.ts"]}',
    };
    expect(problemsOf({ ...files, ...more })).toEqual([
      "dist/shared/a.js.map: src/index.ts is in another bundle, too",
    ]);
  });

  it("are refused when code or types come from the package that is not published", () => {
    const js = 'import { read } from "@holdfast/kit";\n';
    const types = 'export declare const A: import("@holdfast/kit/node").Reply;\n';
    expect(problemsOf({ ...files, "dist/index.js": js, "dist/index.d.ts": types })).toEqual([
      "dist/index.js imports @holdfast/kit, which is not published",
      "dist/index.d.ts imports @holdfast/kit, which is not published",
    ]);
  });

  it("are refused when they are unreachable", () => {
    const more = { "dist/part.js": "", "dist/gone.d.ts": "", "dist/.tsbuildinfo": "" };
    const map = { "dist/shared/a.js.map": '{"sources":["../../src/a.ts"]}' };
    expect(problemsOf({ ...files, ...more, ...map })).toEqual([
      "dist/part.js is neither an entry point nor shared by some",
      "dist/shared/a.js.map: src/a.ts is mapped and missing",
      "dist/gone.d.ts has no source",
      "dist/.tsbuildinfo does not belong there",
    ]);
  });
});
