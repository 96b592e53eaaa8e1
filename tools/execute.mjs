import { spawn } from "node:child_process";
import { once } from "node:events";

/** The limit of one program, in milliseconds. */
const LIMIT = 90_000;

/** How long a program may take to end after its last line, in milliseconds. */
const PATIENCE = 10_000;

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
