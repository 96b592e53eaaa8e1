import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { MAIN } from "./holdfast.ts";

const canUnshare = spawnSync("unshare", ["-fp", "--mount-proc", "true"]).status === 0;

/** A project with holdfast installed, and scripts that run it. */
const project = tempFolder();
const COMMANDS = {
  retry: "holdfast retry -- true",
  wait: "holdfast wait exec:true -- true",
  run: "holdfast run manifest.yaml --no-page",
};
/** Scripts that run another script. */
const OUTER = { start: "npm run between", between: "npm run run; true" };
writeFileSync(
  join(project, "manifest.yaml"),
  "processes: { a: { shell: 'true', restart: Never } }",
);
writeFileSync(
  join(project, "package.json"),
  JSON.stringify({ name: "x", scripts: { ...COMMANDS, ...OUTER } }),
);
mkdirSync(join(project, "node_modules", ".bin"), { recursive: true });
const bin = join(project, "node_modules", ".bin", "holdfast");
writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
chmodSync(bin, 0o755);
mkdirSync(join(project, "npm"));
writeFileSync(join(project, "npm", "start.sh"), `node_modules/.bin/${COMMANDS.run}; true\n`);

const WARNING =
  "holdfast: npm is the entrypoint, and loses SIGTERM: start node_modules/.bin/holdfast in place of npx or npm run";

/** Runs a line as the entrypoint of a container, and returns its warnings. */
async function warningsOf(line: string): Promise<readonly string[]> {
  const child = spawn("unshare", ["-fp", "--mount-proc", "sh", "-c", line], {
    cwd: project,
    env: { ...process.env, XDG_RUNTIME_DIR: project },
  });
  const [, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return errors.split("\n").filter((printed) => printed.includes("entrypoint"));
}

describe.skipIf(!canUnshare)("npm as the entrypoint of a container", () => {
  test.each(
    Object.entries(COMMANDS)
      .flatMap(([name, command]) => [
        [`exec npx ${command}`],
        [`exec npm run ${name}`],
        [`npx ${command}; true`], // Below another process 1, as with docker run --init.
      ])
      .concat([["exec npm start"], ["npm start; true"]]),
  )("is named once: %s", async (line) => {
    expect(await warningsOf(line)).toEqual([WARNING]);
  });

  test.each([
    `exec node_modules/.bin/${COMMANDS.retry}`,
    `node_modules/.bin/${COMMANDS.run}; true`,
    `sh -c 'npx ${COMMANDS.wait}; true'; true`,
    // Words of a shell, and a folder.
    `: npm ci; node_modules/.bin/${COMMANDS.run}; true`,
    `sh npm/start.sh; true`,
    `exec sh npm/start.sh`,
  ])("is not named: %s", async (line) => {
    expect(await warningsOf(line)).toEqual([]);
  });
});
