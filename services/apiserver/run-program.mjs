import { spawn } from "node:child_process";
import { endWithParent } from "../parent.mjs";

/** A program cannot be had on this machine. */
export class UnavailableError extends Error {
  /**
   * @param {string} reason
   * @param {ErrorOptions & { title?: string, next?: string }} [options] the program, and what to do next
   */
  constructor(reason, { title = "the Kubernetes API server", next = "", ...options } = {}) {
    super(`${title} cannot be built here: ${reason}${next && `\nNext: ${next}`}`, options);
    this.reason = reason;
  }
}

/**
 * Runs a program and returns what it has written to its standard output.
 *
 * @typedef {object} RunOptions
 * @property {Record<string, string>} [env]
 * @property {string} [cwd]
 * @property {AbortSignal | undefined} [signal]
 * @property {(text: string) => void} [onOutput] gets what it writes to its error output
 *
 * @param {string[]} command
 * @param {RunOptions} options
 * @returns {Promise<string>}
 */
export async function runProgram([program = "", ...args], { env, cwd, signal, onOutput }) {
  signal?.throwIfAborted();
  endWithParent();
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      detached: true, // a group of its own, which an abort can end whole
      env: { ...process.env, LC_ALL: "C", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stop = () => {
      try {
        process.kill(-(child.pid ?? Number.NaN), "SIGKILL");
      } catch {
        // It has ended since.
      }
    };
    signal?.addEventListener("abort", stop, { once: true });
    let output = "";
    let problems = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      problems = `${problems}${text}`.slice(-4_000);
      onOutput?.(text);
    });
    child.on("error", (error) =>
      reject(new UnavailableError(`${program} does not run: ${error.message}`, { cause: error })),
    );
    child.on("close", (code) => {
      signal?.removeEventListener("abort", stop);
      if (signal?.aborted) reject(signal.reason);
      else if (code === 0) resolve(output);
      else reject(new UnavailableError(`${nameOf(program, args)} failed:\n${problems.trim()}`));
    });
  });
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function nameOf(program, args) {
  return [program.replace(/^.*\//, ""), args[0]].join(" ");
}
