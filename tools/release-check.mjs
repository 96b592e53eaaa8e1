// What has to hold before a release, beside .ci/run: one version, a changelog that has it and names every
// change of the public surface since the last tag, packages within their budget, and a repository that provenance can
// point at.
//
// `node tools/release-check.mjs` prints each problem; `node tools/release-check.mjs v1.2.3` compares the tag, too.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readArguments } from "./arguments.mjs";
import { budget, linesOfPackages, problemsOfBudget } from "./budget.mjs";
import { publicPackages, run } from "./packages.mjs";
import { repository } from "./site/repository.mjs";

/**
 * @typedef {object} Facts
 * @property {string | undefined} repository
 * @property {Record<string, string>} versions - by package
 * @property {string} changelog
 * @property {string} [tag] - what is released
 * @property {{ path: string, before: string, after: string }[]} reports - before is empty for a new entry point
 * @property {string} [lastVersion] - undefined before the first release
 */

/**
 * @param {Facts} facts
 * @returns {string[]} why this is not a release yet
 */
export function problemsOfRelease({ repository, versions, changelog, tag, reports, lastVersion }) {
  const all = [...new Set(Object.values(versions))];
  const [version = ""] = all;
  if (all.length > 1) return [`packages have different versions: ${JSON.stringify(versions)}`];
  const section = sectionOf(changelog, version);
  const changes = lastVersion === undefined ? [] : reports.flatMap(changesOf);
  return [
    ...(repository === undefined
      ? ["set `repository` in the package.json of the root: provenance names it"]
      : []),
    ...(tag !== undefined && tag !== `v${version}` ? [`the tag ${tag} is not v${version}`] : []),
    ...(section === undefined
      ? [`CHANGELOG.md needs a heading "## ${version}, YYYY-MM-DD", and entries below it`]
      : changes
          .filter(({ name }) => !names(section, name))
          .map(
            ({ path, name, kind }) => `${path}: \`${name}\` ${kind}; CHANGELOG.md does not name it`,
          )),
  ];
}

/** The entries of a version with a date; an unreleased one is none. */
function sectionOf(changelog, version) {
  const section = changelog
    .split(/^(?=## )/m)
    .find((text) => text.startsWith(`## ${version}, `) && /^## \S+ \d{4}-\d\d-\d\d$/m.test(text));
  const [, ...entries] = section?.split("\n") ?? [];
  return entries.join("").trim() === "" ? undefined : section;
}

/** What differs between two states of a report. */
function changesOf({ path, before, after }) {
  const [old, now] = [exportsOf(before), exportsOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  return names
    .filter((name) => old.get(name) !== now.get(name))
    .map((name) => ({ path, name, kind: kindOf(old.has(name), now.has(name)) }));
}

function kindOf(wasThere, isThere) {
  if (!wasThere) return "is new";
  return isThere ? "has changed" : "is gone";
}

const DECLARED =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|const|let|function|enum|namespace) (\w+)/;

/**
 * The exports of a report by name, each with the unexported declarations that it mentions: a change of a base class is
 * a change of the exported class. Blank lines separate declarations.
 */
function exportsOf(report) {
  const blocks = report.trimEnd().split("\n\n").slice(1);
  const own = new Map();
  const found = new Map();
  for (const block of blocks) {
    const exported = exportsIn(block);
    const map = exported.length > 0 ? found : own;
    for (const name of exported.length > 0 ? exported : [nameOf(block)])
      map.set(name, [map.get(name), block].filter(Boolean).join("\n"));
  }
  return new Map([...found].map(([name, text]) => [name, withMentioned(text, own)]));
}

function withMentioned(text, own) {
  const used = new Set();
  const texts = [text];
  for (const one of texts) {
    for (const [name, block] of own) {
      if (used.has(name) || !new RegExp(`\\b${name}\\b`).test(one)) continue;
      used.add(name);
      texts.push(block);
    }
  }
  return texts.join("\n");
}

function exportsIn(block) {
  const listed = [...block.matchAll(/^export \{ (?:\w+ as )?(\w+) \}/gm)].map(([, name]) => name);
  if (listed.length > 0) return listed;
  return block.startsWith("export ") ? [nameOf(block)] : [];
}

function nameOf(block) {
  return DECLARED.exec(block)?.[1] ?? block;
}

function names(section, name) {
  return [...section.matchAll(/`([^`]+)`/g)].some(([, code = ""]) =>
    code.split(/\W+/).includes(name),
  );
}

/**
 * What this repository says, in the working directory.
 *
 * @param {string} [tag]
 * @returns {Facts}
 */
export function factsOfRepository(tag) {
  const git = (...args) => run("git", args).trim();
  if (git("rev-parse", "--is-shallow-repository") === "true")
    throw new Error("this clone has no history to compare with: git fetch --unshallow --tags");
  const versions = publicPackages().map(({ manifest: { name, version } }) => [name, version]);
  const last = git("tag", "--list", "v*", "--merged", "HEAD", "--sort=-v:refname")
    .split("\n")
    .find((one) => one !== "" && !versions.some(([, version]) => one === `v${version}`));
  // A package with a command only has no report.
  const reportsIn = (...list) =>
    git(...list)
      .split("\n")
      .filter((path) => path.endsWith(".api.txt"));
  const now = reportsIn("ls-files", "--cached", "--others", "--exclude-standard", "packages");
  const then =
    last === undefined ? [] : reportsIn("ls-tree", "-r", "--name-only", last, "packages");
  return {
    repository,
    versions: Object.fromEntries(versions),
    changelog: readFileSync("CHANGELOG.md", "utf8"),
    ...(tag === undefined ? {} : { tag }),
    ...(last === undefined ? {} : { lastVersion: last.slice(1) }),
    reports: [...new Set([...now, ...then])].map((path) => ({
      path,
      before: then.includes(path) ? git("show", `${last}:${path}`) : "",
      after: existsSync(path) ? readFileSync(path, "utf8") : "",
    })),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  const tag = readArguments(
    "npm run release:check -- [tag]\n  tag   of the release, such as v1.2.3 (default: not compared)\n  --help",
    { allowPositionals: true },
    ({ positionals: [name, ...others] }) => {
      const wrong = [name, ...others].find(
        (one, index) => index > 0 || !/^(v\d|$)/.test(one ?? ""),
      );
      if (wrong !== undefined) throw new Error(`"${wrong}" is not a tag such as v1.2.3`);
      return name;
    },
  );
  const facts = factsOfRepository(tag);
  const problems = [...problemsOfRelease(facts), ...problemsOfBudget(linesOfPackages(), budget())];
  for (const problem of problems) console.error(problem);
  const since =
    facts.lastVersion === undefined ? "the first release" : `since ${facts.lastVersion}`;
  if (problems.length === 0) console.log(`This can be released: ${since}.`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
