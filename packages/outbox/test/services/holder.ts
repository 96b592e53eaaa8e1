import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";

const MAIN = fileURLToPath(new URL("./holder.mjs", import.meta.url));

/** What a holder has said, and when: on the monotonic clock of this process. */
interface Line {
  readonly what: string;
  readonly token: number;
  readonly at: number;
}

/** What {@link Holder} is started with. */
interface HolderOptions {
  readonly kind: "postgres" | "mysql" | "redis";
  readonly name: string;
  readonly identity: string;
  readonly asleep: "outside" | "inside";
  readonly database: string;
}

/** `holder.mjs` as a process. */
export class Holder implements AsyncDisposable {
  readonly lines: Line[] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor({ kind, name, identity, asleep, database }: HolderOptions) {
    const variable = kind === "mysql" ? "MYSQL_URL" : "DATABASE_URL";
    const env = { ...process.env, [variable]: database };
    const args = [MAIN, kind, name, identity, asleep];
    this.#child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    this.#exited = once(this.#child, "exit");
    let rest = "";
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(line);
    });
  }

  /** The latest of its terms; undefined before the first. */
  get token(): number | undefined {
    return this.lines.findLast(({ what }) => what === "leads")?.token;
  }

  /** Waits until it says something, with a token that fits. */
  async says(what: string, fits: (token: number) => boolean = () => true): Promise<Line> {
    const find = (): Line | undefined =>
      this.lines.find((line) => line.what === what && fits(line.token));
    return await poll(find, { backoff: { duration: 10 }, timeout: 120_000 });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  #hear(line: string): void {
    const [what = "", token] = line.split(" ");
    this.lines.push({ what, token: Number(token), at: realClock.monotonic() });
  }
}
