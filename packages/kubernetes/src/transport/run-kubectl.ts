import { execFileSync, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { printable } from "../printable.ts";

/** Longest output that is read, in bytes. */
const MAX_OUTPUT = 16 * 1024 * 1024;

/** Milliseconds after which kubectl is stopped. It may run a plugin that asks for a login. */
const TIMEOUT = 60_000;

/** Longest text of kubectl in a message. */
const MAX_TEXT = 1_000;

/** The next step where the kubeconfig has no such context. */
const CHOOSE = 'see "kubectl config get-contexts", and choose with "kubectl config use-context"';

const OPTIONS = { encoding: "utf8", maxBuffer: MAX_OUTPUT, timeout: TIMEOUT } as const;

/** The code of `execFileSync` for an output above `maxBuffer`. */
const TOO_MUCH = "ENOBUFS";

/** The code of `execFileSync` after `timeout`. */
const TOO_LONG = "ETIMEDOUT";

/** A failure of `node:child_process`. */
interface Failure {
  readonly code?: unknown;
  readonly stderr?: unknown;
}

/** Runs kubectl and waits for its output, which blocks the process. */
export function runKubectlSync(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { ...OPTIONS, stdio: [stdin(), "pipe", "pipe"] });
  } catch (error) {
    throw failureOf(program, args, error as Failure);
  }
}

/** Runs kubectl. Resolves with its output. On a terminal its plugin may ask the user. */
export async function runKubectl(program: string, args: readonly string[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, { timeout: TIMEOUT, stdio: [stdin(), "pipe", "pipe"] });
    const fail = (failure: Failure): void => reject(failureOf(program, args, failure));
    const stop = (): void => {
      child.kill();
      fail({ code: TOO_MUCH });
    };
    const output = textOf(child.stdout, stop);
    const messages = textOf(child.stderr, stop);
    if (process.stdin.isTTY) child.stderr.pipe(process.stderr, { end: false });
    child.on("error", (error) => fail(error as Failure));
    // Its plugin may live on and keep the pipes open: "close" would not come.
    child.on("exit", (_code, killed) => {
      if (killed !== null) fail({ code: child.killed ? TOO_LONG : killed, stderr: messages() });
    });
    child.on("close", (code) => {
      if (code === 0) resolve(output());
      else fail({ stderr: messages() });
    });
  });
}

/** Reads a stream. Returns what came so far; too much calls `stop`. */
function textOf(stream: Readable, stop: () => void): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_OUTPUT) stop();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

/** As kubectl itself: a plugin on a terminal may ask for a password. */
function stdin(): "inherit" | "ignore" {
  return process.stdin.isTTY ? "inherit" : "ignore";
}

// Its output may hold a token: only the message of kubectl is repeated.
function failureOf(program: string, args: readonly string[], failure: Failure): Error {
  const { code, stderr } = failure;
  const command = [program, ...args].join(" ");
  if (code === "ENOENT")
    return new Error(`${program} was not found: install kubectl, or check PATH`);
  if (code === TOO_MUCH)
    return new Error(`"${command}" failed: it printed more than ${MAX_OUTPUT / 2 ** 20} MiB`);
  if (code === TOO_LONG)
    return new Error(`"${command}" failed: it did not end within ${TIMEOUT / 1_000} s`);
  const text = typeof stderr === "string" ? printable(stderr.trim().slice(0, MAX_TEXT)) : "";
  const hint = /\bcontext\b/.test(text) ? `; ${CHOOSE}` : "";
  return new Error(`"${command}" failed: ${text || "it printed no message"}${hint}`);
}
