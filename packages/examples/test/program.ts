import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";

/** Patience for a line of output on a busy machine, in milliseconds. */
const PATIENCE = 120_000;

/** A built example in a process of its own, and its output. */
export class Program {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  #stdout = "";
  #stderr = "";
  #wanted: { pattern: RegExp; found: (match: RegExpMatchArray) => void } | undefined;

  /**
   * @param main - the path of the main file, below `dist`
   * @param nodeArgs - of Node, before the file
   * @param env - beside that of this process
   */
  constructor(
    main: string,
    args: readonly string[],
    nodeArgs: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ) {
    const file = fileURLToPath(new URL(`../dist/${main}`, import.meta.url));
    this.child = spawn(process.execPath, [...nodeArgs, file, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", ...env },
    });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      this.#look();
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      console.error(text.trimEnd()); // vitest shows it if the test fails
    });
    this.exited = once(this.child, "close").then(([code]) => code as number | null);
  }

  /** The output that no `printed` has consumed. */
  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Waits for a match in the output after the previous match. The error shows the output. */
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
