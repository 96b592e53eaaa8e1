// The programs of the runtimes: npm packages by exact version. `npx` keeps them in the cache of npm, beside
// the dependencies of the repository, so that only `npm run test:runtimes` downloads them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { registryEnv } from "../tools/registry-env.mjs";

/** The limit of one program, in milliseconds. */
const LIMIT = 90_000;

/** How long a program may take to end after its last line, in milliseconds. */
const PATIENCE = 10_000;

const CHROMIUM_PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** A runtime that cannot start: its suite counts as not run. */
export class NotRunError extends Error {}

/**
 * The path of a program in an npm package, downloaded if it is not in the cache yet.
 *
 * @param {string} spec - the package with its version, as in `deno@2.9.6`
 * @returns {Promise<string>}
 */
export async function programOf(spec) {
  const name = spec.slice(0, spec.indexOf("@"));
  // Some of these binaries come by an install script.
  const env = { ...registryEnv(), npm_config_ignore_scripts: "false" };
  // Beyond the repository, where npx would take a package of its own dependencies.
  const options = { env, cwd: tmpdir(), limit: 4 * LIMIT };
  const install = ["--yes", "-p", spec, "-c", `command -v ${name} && ${name} --version`];
  const { code, lines, errors } = await execute("npx", install, options);
  const [path] = lines;
  // Without its binary npx would fall back to a program that is installed on this machine.
  if (code !== 0 || !path?.includes("node_modules"))
    throw new NotRunError(firstOf(errors) ?? `${spec} has no program for this machine`);
  return path;
}

/** @returns {string} the program of Chromium */
export function chromiumProgram() {
  const { CHROMIUM_PATH } = process.env;
  const path = CHROMIUM_PATH ?? CHROMIUM_PLACES.find((place) => existsSync(place));
  if (path === undefined || !existsSync(path))
    throw new NotRunError(
      path === undefined
        ? "there is no Chromium: install one (Debian: apt-get install chromium) or name it in CHROMIUM_PATH"
        : `CHROMIUM_PATH names ${path}, which does not exist`,
    );
  return path;
}

/**
 * Runs a program to its end.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, limit?: number, lastLine?: string }} options - a
 * program that does not end after its last line, given by its start, is killed
 * @returns {Promise<{ code: number | null, lines: string[], errors: string[] }>}
 */
export async function execute(command, args, { cwd, env = process.env, limit = LIMIT, lastLine }) {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of /** @type {const} */ (["stdout", "stderr"]))
    child[name].setEncoding("utf8").on("data", (text) => {
      output[name] += text;
      if (lastLine !== undefined && output.stdout.includes(`\n${lastLine}`))
        setTimeout(kill, PATIENCE).unref();
    });
  const kill = () => child.kill("SIGKILL");
  const timer = setTimeout(kill, limit);
  const code = await once(child, "close").then(
    ([exitCode]) => exitCode,
    (error) => {
      output.stderr += `${error}`;
      return null;
    },
  );
  clearTimeout(timer);
  return { code, lines: linesOf(output.stdout), errors: linesOf(output.stderr) };
}

function linesOf(text) {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function firstOf(errors) {
  return errors.find((line) => !line.startsWith("npm warn"));
}
