// The programs of the runtimes: npm packages by exact version. `npx` keeps them in the cache of npm, beside
// the dependencies of the repository, so that only `npm run test:runtimes` downloads them.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { execute } from "../tools/execute.mjs";
import { registryEnv } from "../tools/registry-env.mjs";

/** The limit of a download, in milliseconds. */
const DOWNLOAD_LIMIT = 360_000;

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
  const options = { env, cwd: tmpdir(), limit: DOWNLOAD_LIMIT };
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
        ? "no Chromium found: install one (Debian: apt-get install chromium) or set CHROMIUM_PATH"
        : `CHROMIUM_PATH names ${path}, which does not exist`,
    );
  return path;
}

function firstOf(errors) {
  return errors.find((line) => !line.startsWith("npm warn"));
}
