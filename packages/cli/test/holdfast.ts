import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** What a run of holdfast came to. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  /** Without the prefix, and with `…` for every duration. */
  readonly lines: string[];
}

/** How to run holdfast. */
export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Whether stdin is a pipe that is not closed. */
  readonly keepsStdin?: boolean;
  /** Whether all three streams are a terminal; its output is in `stdout`. */
  readonly terminal?: boolean;
  /** Words before those of holdfast: a program that becomes it. */
  readonly within?: readonly string[];
}

/** A built `holdfast` in a process of its own. */
export class Holdfast {
  readonly child: ChildProcess;
  stdout = "";
  stderr = "";
  readonly #closed: Promise<unknown[]>;
  readonly #looks = new Set<() => void>();

  constructor(args: readonly string[], options: RunOptions = {}) {
    const { env, input, keepsStdin = false, terminal = false, within = [] } = options;
    const command = [...within, process.execPath, MAIN, ...args];
    // script(1) makes a terminal, and writes its own stdin to it.
    const [file = "", ...rest] = terminal
      ? ["script", "-qefc", command.map(quoted).join(" "), "/dev/null"]
      : command;
    this.child = spawn(file, rest, {
      stdio: [input === undefined && !terminal && !keepsStdin ? "ignore" : "pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
      detached: true,
    });
    if (!terminal && !keepsStdin) this.child.stdin?.end(input);
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
      for (const look of this.#looks) look();
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      for (const look of this.#looks) look();
    });
    this.#closed = once(this.child, "close");
    onTestFinished(() => {
      try {
        process.kill(-(this.child.pid as number), "SIGKILL");
      } catch {
        // It has ended.
      }
    });
  }

  /** Waits until stdout and stderr together match. */
  async printed(pattern: RegExp): Promise<RegExpMatchArray> {
    return await new Promise((resolve, reject) => {
      const look = () => {
        const match = (this.stdout + this.stderr).match(pattern);
        if (match === null) return;
        this.#looks.delete(look);
        resolve(match);
      };
      this.#looks.add(look);
      look();
      void this.#closed.then(() =>
        reject(new Error(`${pattern} was not printed:\n${this.stdout}\n${this.stderr}`)),
      );
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async ended(): Promise<Ended> {
    const [code] = (await this.#closed) as [number | null];
    const lines = this.stderr.split("\n").filter(Boolean);
    return { code, stdout: this.stdout, lines: lines.map(plain) };
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function plain(line: string): string {
  return line.replace(/^holdfast: /, "").replaceAll(/\b(?:\d+(?:\.\d+)?(?:ms|s|m|h))+\b/g, "…");
}

/** Runs holdfast to its end. */
export async function holdfast(args: readonly string[], options?: RunOptions): Promise<Ended> {
  return await new Holdfast(args, options).ended();
}

/**
 * Runs holdfast until it has printed something, with a time limit that ends it after that. A busy machine may reach the
 * limit before; then it runs again, with a longer one.
 */
export async function limited<T extends Pick<Holdfast, "printed">>(
  pattern: RegExp,
  start: (limit: string) => T,
): Promise<{ readonly run: T; readonly match: RegExpMatchArray }> {
  for (let seconds = 1; ; seconds *= 4) {
    const run = start(`${seconds}s`);
    try {
      return { run, match: await run.printed(pattern) };
    } catch (error) {
      if (seconds > 60) throw error;
    }
  }
}

/** Arguments that run a line with /bin/sh after `--`. */
export function sh(line: string): string[] {
  return ["--", "sh", "-c", line];
}
