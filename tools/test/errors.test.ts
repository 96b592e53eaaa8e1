// Every error that can reach a user has a code with the prefix of its package, a predicate, and a row in
// docs/errors.md. The classes are found in the sources, and by what the entry points export.
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { publicPackages } from "../packages.mjs";

/** Errors that the code which throws them catches: they reach no user. */
const CAUGHT: Readonly<Record<string, string>> = {
  ApplyConflictError: "the fake API server responds with a Status",
  AttemptError: "holdfast retry exits with the code of the command",
  DecodeError: "the fake API server responds with a Status",
  Failure: "the fake API server responds with a Status",
  JsonPatchError: "the fake API server responds with a Status",
  JsonPatchFormError: "the fake API server responds with a Status",
  LockedError: "holdfast run prints it",
  NotJsonError: "save throws a RangeError",
  PathProblem: "explorePaths throws a PathError",
  PatternError: "the fake API server refuses or warns about the pattern",
  ResponseError: "holdfast wait prints it",
  ScenarioError: "explore throws an ExplorationError",
  SelectorError: "the fake API server responds with a Status",
  StaleSocketError: "a ConnectionError, sent again on another connection",
  StaleConnection: "sent again on a fresh connection",
  StartError: "explore throws an ExplorationError",
  TypedValueError: "the fake API server responds with a Status",
  UnknownListError: "the fake API server responds with a Status",
  UnsafePatchError: "the fake API server responds with a Status",
  VersionConversionError: "the fake API server responds with a Status",
};

/** Packages whose errors have the prefix of another. */
const FAMILY: Readonly<Record<string, string>> = {
  explore: "controller",
  "fake-apiserver": "kubernetes",
};

interface Finder {
  findError(error: unknown, Class: unknown): unknown;
}
const { findError }: Finder = await import(resolve("packages/clock/src/index.ts"));

type Exports = Readonly<Record<string, unknown>>;

interface ErrorClass {
  readonly name: string;
  readonly entry: string;
  readonly folder: string;
  readonly prefix: string;
  readonly module: Exports;
}

const packages = publicPackages();

async function exportedErrors(): Promise<ErrorClass[]> {
  const found: ErrorClass[] = [];
  for (const { folder, manifest } of packages)
    for (const [entry, target] of Object.entries<Record<string, string>>(manifest.exports ?? {})) {
      const source = target["@holdfast/source"];
      if (source === undefined) continue;
      const module: Exports = await import(resolve(folder, source));
      const home = folder.slice("packages/".length);
      const prefix = `ERR_${(FAMILY[home] ?? home).toUpperCase()}_`;
      for (const [name, value] of Object.entries(module))
        if (typeof value === "function" && value.prototype instanceof Error)
          found.push({ name, entry: `${manifest.name}${entry.slice(1)}`, folder, prefix, module });
    }
  return found;
}

/** The class of an error in the sources, with the module that declares it. */
function declaredErrors(): Map<string, string> {
  const folders = ["packages/kit", ...packages.map(({ folder }) => folder)];
  const files = folders.flatMap((folder) =>
    readdirSync(`${folder}/src`, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => `${folder}/src/${path}`),
  );
  return new Map(
    files.flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/\bclass (\w+)(?:<.*?>)? extends \w*Error\b/g)].map(
        ([, name]) => [name as string, file] as const,
      ),
    ),
  );
}

const codeIn = (text: string): string | undefined =>
  /readonly code(?:: "\w+")? = (?:"(\w+)"|CODE|TIMEOUT_CODE)/.test(text)
    ? /"(ERR_[A-Z_]+)"/.exec(text)?.[1]
    : undefined;

const exported = await exportedErrors();
const declared = declaredErrors();
const page = readFileSync("docs/errors.md", "utf8");

describe("every class of error", () => {
  it("is exported, unless the code that throws it catches it", () => {
    const names = new Set(exported.map(({ name }) => name));
    const isHidden = (name: string): boolean => !names.has(name) && !(name in CAUGHT);
    expect([...declared.keys()].filter(isHidden)).toEqual([]);
    expect(Object.keys(CAUGHT).filter((name) => !declared.has(name) || names.has(name))).toEqual(
      [],
    );
  });

  it("is found in all packages that have one", () => {
    expect(exported.length).toBeGreaterThan(20);
  });

  it.each(exported)("$entry $name has a code, a predicate and a row, and is found", (one) => {
    const { name, entry, prefix, module } = one;
    const file = declared.get(name);
    const code = codeIn(readFileSync(file as string, "utf8"));
    expect(code).toMatch(/^ERR_[A-Z_]+$/);
    // A class that another of our packages exports keeps that package's prefix.
    if (file?.startsWith(`${one.folder}/`)) expect(code?.startsWith(prefix)).toBe(true);
    const is = module[`is${name}`] as (error: unknown) => boolean;
    const find = (error: unknown) => findError(error, module[name]);
    const ofCopy = Object.assign(new Error("of another copy"), { code });
    const wrapped = new Error("context", { cause: new Error("more", { cause: ofCopy }) });
    expect([is(ofCopy), is(wrapped), is(new Error("other")), is(undefined)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(find(ofCopy)).toBe(ofCopy);
    expect(find(wrapped)).toBe(ofCopy);
    expect([find(new Error("other")), find(undefined), find("text")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const row = page.split("\n").find((line) => line.startsWith(`| \`${code}\``));
    expect(row, `the row of ${code} in docs/errors.md`).toContain(`\`is${name}\` of `);
    expect(row?.split("|")[1], "its entry points").toContain(
      `\`${entry.replace("@holdfast/", "")}\``,
    );
  });
});
