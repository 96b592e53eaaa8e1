import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

/** The programs that take the arguments of `npm run NAME -- …`. */
const programs = Object.entries<string>(scripts).map(([name, script]) => ({
  name,
  command: script.split(" && ").at(-1) ?? "",
}));

/** Command lines of others, and the one that npm runs by itself after an installation. */
const FOREIGN = [
  "typedoc",
  "stryker run",
  "biome check --write",
  "npm run fix",
  "node tools/ready.mjs",
  ".ci/run nightly",
];
/** They hand their arguments to tools/vitest.mjs, after they have started servers. */
const SERVERS = ["node services/main.mjs", "node services/cluster.mjs"];

const own = programs.filter(({ command }) => ![...FOREIGN, ...SERVERS].includes(command));

async function run(command: string, ...args: string[]) {
  // By a shell, as npm does.
  const child = spawn("sh", ["-c", `exec ${command} "$@"`, "sh", ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  const [code] = await once(child, "close");
  return { code, ...output };
}

describe.concurrent("npm run", () => {
  it.for(own)("$name refuses an unknown option in words", async ({ command }, { expect }) => {
    expect(command).toMatch(/^node \S+\.m?js/);
    const { code, stderr } = await run(command, "--nonsense");
    expect(stderr.split("\n")[0]).toMatch(/^error: .*--nonsense/);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(code).toBe(2);
  });

  it.for([
    {
      name: "sim",
      args: ["--seed", "abc"],
      message: "--seed must be a whole number of at least 0, got abc",
    },
    {
      name: "sim",
      args: ["--runs", "0"],
      message: "--runs must be a whole number of at least 1, got 0",
    },
    { name: "build", args: ["clocks"], message: 'there is no package "clocks"' },
    { name: "test:runtimes", args: ["Cobol"], message: 'no runtime begins with "Cobol"' },
    { name: "pack:matrix", args: ["cargo"], message: 'no package manager begins with "cargo"' },
    { name: "release:check", args: ["latest"], message: '"latest" is not a tag such as v1.2.3' },
  ])("$name refuses $args", async ({ name, args, message }, { expect }) => {
    const command = programs.find((one) => one.name === name)?.command ?? "";
    const { code, stderr } = await run(command, ...args);
    expect(stderr).toMatch(new RegExp(`^error: ${message}\n\nnpm run ${name}`));
    expect(code).toBe(2);
  });

  it("prints its usage for --help, and exits with 0", async ({ expect }) => {
    const { code, stdout, stderr } = await run("node tools/sim.mjs", "--help");
    expect(stdout).toMatch(/^npm run sim -- \[options\]\n {2}--seed N/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

it("knows the program of each script", () => {
  expect(own.length).toBeGreaterThan(15);
});
