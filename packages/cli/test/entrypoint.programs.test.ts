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

const lost = (name: string): string =>
  `holdfast: ${name} is the entrypoint, and loses SIGTERM: start node_modules/.bin/holdfast itself`;
const SHELL =
  "holdfast: a shell is the entrypoint, and loses SIGTERM: let it start holdfast with exec, as its last command";
/** What starts a line in the way of another runner of scripts: its command line is its mark. */
const runner = (name: string, agent: string): string => {
  const script = `require("node:child_process").spawnSync("sh", ["-c", "${COMMANDS.wait}"], { stdio: "inherit" })`;
  mkdirSync(join(project, name), { recursive: true });
  writeFileSync(join(project, name, "yarn.js"), script);
  return `npm_config_user_agent=${agent} PATH=$PWD/node_modules/.bin:$PATH exec node ${name}/yarn.js`;
};
/** A Node 22 or later, where `--run` exists. */
const runsScripts = spawnSync(process.execPath, ["--run", "wait"], { cwd: project }).status === 0;

/** Runs a line as the entrypoint of a container, and returns its warnings. */
async function warningsOf(line: string): Promise<readonly string[]> {
  const child = spawn("unshare", ["-fp", "--mount-proc", "sh", "-c", line], {
    cwd: project,
    env: { ...process.env, XDG_RUNTIME_DIR: project },
  });
  const [, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return errors.split("\n").filter((printed) => printed.includes("entrypoint"));
}

describe.skipIf(!canUnshare)("the entrypoint of a container", () => {
  test.each(
    Object.entries(COMMANDS)
      .flatMap(([name, command]) => [
        [`exec npx ${command}`],
        [`exec npm run ${name}`],
        [`npx ${command}; true`], // Below another process 1, as with docker run --init.
      ])
      .concat([["exec npm start"], ["npm start; true"]]),
  )("is named once: %s", async (line) => {
    expect(await warningsOf(line)).toEqual([lost("npm")]);
  });

  test.each([
    [runner("one", "yarn/1.22.22"), lost("yarn 1")],
    [`sh -c 'npx ${COMMANDS.wait}; true'; true`, SHELL],
    [`node_modules/.bin/${COMMANDS.run}; true`, SHELL],
    // Words of a shell, and a folder.
    [`: npm ci; node_modules/.bin/${COMMANDS.run}; true`, SHELL],
    [`sh npm/start.sh; true`, SHELL],
    [`exec sh npm/start.sh`, SHELL],
  ])("is named once, as what it is: %s", async (line, warning) => {
    expect(await warningsOf(line)).toEqual([warning]);
  });

  test.skipIf(!runsScripts)("is named once: node --run", async () => {
    expect(await warningsOf("exec node --run wait")).toEqual([lost("node --run")]);
  });

  test.each([
    `exec node_modules/.bin/${COMMANDS.retry}`,
    runner("four", "yarn/4.18.1"),
    // A shell that hands the signal on, one with a person, and another process 1.
    `trap 'kill $!' TERM; node_modules/.bin/${COMMANDS.run} & wait; true`,
    `trap '' TERM; node_modules/.bin/${COMMANDS.run}; true`,
    `exec node -e 'require("node:child_process").spawnSync("node_modules/.bin/holdfast", ["wait", "exec:true"], { stdio: "inherit" })'`,
  ])("is not named: %s", async (line) => {
    expect(await warningsOf(line)).toEqual([]);
  });
});
