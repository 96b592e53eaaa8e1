import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { documentation } from "../doc-copies.mjs";
import { laws } from "../laws.js";
import { anchorsOf, codeWordsOf, linksOf } from "./markdown.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const guides = documentation(root).filter((path) => path.endsWith(".md"));

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The commands of the repository, or of a project that one of its packages makes. */
function scriptsOf(folder: string): Record<string, string> {
  return JSON.parse(read(`${folder}/package.json`)).scripts;
}

/** What is wrong with a link of a guide; links out of the repository are not followed. */
function faultOf(guide: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? guide : normalize(join(dirname(guide), path));
  if (!existsSync(join(root, file))) return "leads to no file";
  if (anchor !== undefined && !anchorsOf(read(file)).has(anchor)) return "leads to no heading";
  return undefined;
}

const FILE = /^(?:\.ci|bench|conformance|docs|packages|services|test|tools)\/[\w./-]*\w$/;

describe.each(guides)("%s", (guide) => {
  it("links to existing files and headings", () => {
    const broken = linksOf(read(guide)).flatMap(({ line, target }) => {
      const fault = faultOf(guide, target);
      return fault === undefined ? [] : [`${guide}:${line}: ${target} ${fault}`];
    });
    expect(broken).toEqual([]);
  });

  it("names files, laws and commands that exist", () => {
    const scripts = { ...scriptsOf("."), ...scriptsOf("packages/create-operator/template") };
    const unknown = codeWordsOf(read(guide)).filter(({ target }) => {
      const law = /^law\/([\w-]+)$/.exec(target)?.[1];
      const command = /^npm run ([\w:-]+)/.exec(target)?.[1];
      if (law !== undefined) return !Object.hasOwn(laws, law);
      if (command !== undefined) return !Object.hasOwn(scripts, command);
      return FILE.test(target) && !existsSync(join(root, target));
    });
    expect(unknown.map(({ line, target }) => `${guide}:${line}: ${target}`)).toEqual([]);
  });
});

it("the README has at most 90 lines, names the first commands first, and has three doors", () => {
  const lines = read("README.md").trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(90);
  const screen = lines.slice(0, 20).join("\n");
  expect([/^npm start /m.test(screen), /^npm test /m.test(screen)]).toEqual([true, true]);
  expect(lines.filter((line) => line.startsWith("## ")).slice(0, 3)).toEqual([
    "## Retry a call",
    "## Send after a commit",
    "## Write an operator",
  ]);
});

/** Lines that start a program of a container or a service: of a Dockerfile, of YAML, of a systemd unit. */
const ENTRY =
  /^\s*-?\s*(?:"?(?:ENTRYPOINT|CMD)"?\s|Exec\w+=|(?:command|entrypoint|args|run_?cmd):)/i;
const samples = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter(
    (path) =>
      guides.includes(path) || /(?:^|\/)Dockerfile$|\.service$|deploy\/.*\.ya?ml$/.test(path),
  );

it("no container and no service starts a program by npm, which loses SIGTERM", () => {
  const entries = samples.flatMap((path) =>
    read(path)
      .split("\n")
      .filter((line) => ENTRY.test(line) && /\b(?:npx|npm)\b/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(entries).toEqual([]);
});

it.each([
  "packages/cli/README.md",
  "docs/wait-for-a-service.md",
  "docs/retry-a-command.md",
  "docs/run-processes.md",
])("%s shows the program itself as the entrypoint of a container", (guide) => {
  const entries = read(guide)
    .split("\n")
    .filter((line) => ENTRY.test(line));
  expect(entries.filter((line) => line.includes("node_modules/.bin/holdfast"))).toHaveLength(1);
});

it("no sample names a process by its number, which is 1 in every container", () => {
  expect(guides.filter((guide) => read(guide).includes("process.pid"))).toEqual([]);
});

it("headings hold no code, because the reference and GitHub would name their anchors differently", () => {
  const headings = guides.flatMap((guide) =>
    read(guide)
      .split("\n")
      .filter((line) => /^#+ .*`/.test(line))
      .map((line) => `${guide}: ${line}`),
  );
  expect(headings).toEqual([]);
});

it("each difference from Go that conformance grants is explained, and no other", () => {
  const granted = [...read("conformance/src/rules.ts").matchAll(/^ {2}"([\w-]+)": \{$/gm)];
  const pages = guides.filter((path) => path.startsWith("docs/coming-from-go")).map(read);
  const explained = [...pages.join("\n").matchAll(/^Rules?: (.*)\.$/gm)].flatMap(
    ([, names = ""]) => [...names.matchAll(/`([^`]+)`/g)],
  );
  const names = (matches: RegExpMatchArray[]) => matches.map(([, name]) => name).sort();
  expect(names(explained)).toEqual(names(granted));
});

/** The public names of a package, each with the entry that has it, the root first. */
function entriesOf(name: string): Map<string, string> {
  const folder = join(root, "packages", name, "api");
  const isRoot = (file: string) => Number(file === "index.api.txt");
  const reports = readdirSync(folder);
  const found = new Map<string, string>();
  for (const file of reports.sort((a, b) => isRoot(b) - isRoot(a))) {
    const text = readFileSync(join(folder, file), "utf8");
    const [, entry = ""] = /^\/\/ @holdfast\/(\S+)/.exec(text) ?? [];
    const names = [
      ...text.matchAll(/^export (?:abstract )?(?:class|const|function|interface|type) (\w+)/gm),
      ...text.matchAll(/^export \{ (\w+) \}/gm),
    ];
    for (const [, one = ""] of names) if (!found.has(one)) found.set(one, entry);
  }
  return found;
}

describe.each(["clock", "wait", "controller", "kubernetes"])(
  "the tables of coming-from-go-%s",
  (name) => {
    it("say from which entry each name comes", () => {
      const entries = [name, "clock", "fake-apiserver"].map(entriesOf);
      const rows = read(`docs/coming-from-go-${name}.md`)
        .split("\n")
        .map((line) => line.split(/(?<!\\) *\| */))
        .filter(({ length }) => length === 6)
        .filter(([, go]) => go !== "Go" && go !== "---");
      expect(rows.length).toBeGreaterThan(10);
      const expected = rows.map(([, go, here = ""]) => {
        const spans = [...here.matchAll(/`(?:new )?(\w+)(?![\w:])[^`]*`/g)];
        const from = spans.flatMap(
          ([, one = ""]) => entries.find((known) => known.has(one))?.get(one) ?? [],
        );
        return [go, [...new Set(from)].map((entry) => `\`${entry}\``).join(", ")];
      });
      expect(rows.map(([, go, , from]) => [go, from])).toEqual(expected);
    });
  },
);

it("the survivors of mutation testing that are explained are lines of the sources", () => {
  const rows = [...read("docs/mutation.md").matchAll(/^\| `([\w/-]+\.ts)` \| `([^`]+)`/gm)];
  expect(rows.length).toBeGreaterThan(0);
  const gone = rows.filter(
    ([, file = "", line = ""]) => !read(`packages/${file.replace("/", "/src/")}`).includes(line),
  );
  expect(gone.map(([row]) => row)).toEqual([]);
});

it("the list of decisions has every page, and leads every number to one", () => {
  const list = read("docs/adr/README.md");
  const written = guides
    .filter((path) => /^docs\/adr\/\d/.test(path))
    .map((path) => basename(path));
  const listed = [...list.matchAll(/^\| \[(\d{4})\]\((\1-[\w-]+\.md)\)/gm)];
  expect(listed.map(([, , page]) => page)).toEqual(written.sort());
  const folded = [...list.matchAll(/^\| (\d{4}) \| \[/gm)];
  const numbers = [...listed, ...folded].map(([, number]) => Number(number));
  const upTo = Math.max(...numbers);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: upTo }, (_, i) => i + 1));
});
