import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";

const MAIN = fileURLToPath(new URL("../../dist/supervisor/main.js", import.meta.url));

/** How long something may take to be printed, in milliseconds, on a machine that is busy. */
const PATIENCE = 20_000;

/** Whether a process runs. A zombie, which only waits to be collected, does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return process.platform !== "linux";
  }
}

/** Those of some processes that are still there a moment later: SIGKILL takes effect soon, not at once. */
export async function survivors(pids: readonly number[]): Promise<readonly number[]> {
  for (let attempt = 0; attempt < 500 && pids.some(isAlive); attempt++) await realClock.sleep(10);
  return pids.filter(isAlive);
}

/** An example as built, as a process of its own, and what it printed; the supervisor by default. */
export class Program {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  #stdout = "";
  #wanted: { pattern: RegExp; found: (match: RegExpMatchArray) => void } | undefined;

  constructor(args: readonly string[], main = MAIN) {
    this.child = spawn(process.execPath, [main, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NO_COLOR: "1" },
    });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      this.#look();
    });
    this.exited = once(this.child, "close").then(([code]) => code as number | null);
  }

  /** What was printed and not yet waited for. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Waits for something to be printed, after what was waited for before. Says what was, instead. */
  printed(pattern: RegExp): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const give = (): void => reject(new Error(`${pattern} was not printed:\n${this.#stdout}`));
      const timer = realClock.afterFunc(PATIENCE, give);
      const found = (match: RegExpMatchArray): void => {
        timer.stop();
        resolve(match);
      };
      this.#wanted = { pattern, found };
      this.#look();
    });
  }

  /** The pid that a process is said to run with, from now on. */
  async pidOf(name: string): Promise<number> {
    const [, pid] = await this.printed(new RegExp(`  ${name} +Running, pid (\\d+)\\n`));
    return Number(pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGTERM");
    await this.exited;
  }

  #look(): void {
    const match = this.#wanted && this.#stdout.match(this.#wanted.pattern);
    if (!match) return;
    this.#stdout = this.#stdout.slice((match.index ?? 0) + match[0].length);
    this.#wanted?.found(match);
    this.#wanted = undefined;
  }
}
