import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import { deferred } from "@holdfast/kit";
import type { ApiServer } from "../../../../services/apiserver.mjs";

/** What a {@link Candidate} runs: a module of this folder, with arguments behind its identity and namespace. */
interface Program {
  readonly program: string;
  readonly args: readonly string[];
}
const LEADER: Program = { program: "candidate.mjs", args: [] };

/** The time in which a process has led, on the wall clock of the machine. */
export interface Term {
  readonly identity: string;
  readonly token: number;
  /** Highest version of the journal in its caches at the beginning. */
  readonly known: number;
  readonly from: number;
  /** Undefined while it leads. */
  readonly until: number | undefined;
}

/** An operator as a process: `candidate.mjs`, which competes for a Lease, or another program. */
export class Candidate implements AsyncDisposable {
  readonly identity: string;
  /** Exit code. Null after SIGKILL. */
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #terms: Term[] = [];
  readonly #up = deferred<number>();
  #killedAt: number | undefined;

  constructor(
    identity: string,
    namespace: string,
    server: ApiServer,
    { program, args }: Program = LEADER,
  ) {
    this.identity = identity;
    const main = fileURLToPath(new URL(program, import.meta.url));
    const access = { API_URL: server.url, API_CA: server.ca, API_TOKEN: server.adminToken };
    this.#child = spawn(process.execPath, [main, identity, namespace, ...args], {
      env: { ...process.env, ...access },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let errors = "";
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      process.stderr.write(text);
      errors += text;
    });
    this.exited = once(this.#child, "close").then(([code]) => code as number | null);
    this.#up.promise.catch(() => {});
    void this.exited.then((code) =>
      this.#up.reject(new Error(`${identity} exited with ${code} before it was up\n${errors}`)),
    );
    let rest = "";
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(line);
    });
  }

  /** Its terms. A kill ends the last one. */
  get terms(): readonly Term[] {
    return this.#terms.map((term) => ({ ...term, until: term.until ?? this.#killedAt }));
  }

  /** Resolves when the program says that it is up, with the port that it may name. Rejects with what it printed if it ends. */
  get up(): Promise<number> {
    return this.#up.promise;
  }

  get isLeader(): boolean {
    const last = this.terms.at(-1);
    return last !== undefined && last.until === undefined;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    this.#killedAt ??= realClock.now();
    await this.exited;
  }

  /** Stops the process as a debugger or a suspended machine does, until {@link Candidate.thaw}. */
  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  /** Sends SIGTERM, once it hears it. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    await this.#up.promise.catch(() => {});
    this.#child.kill("SIGTERM");
    return await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #hear(line: string): void {
    const [word, token, known, at] = line
      .split(" ")
      .map((part, i) => (i === 0 ? part : Number(part)));
    if (word === "up") {
      this.#up.resolve(Number(token));
      return;
    }
    const term = { identity: this.identity, token: Number(token), known: Number(known) };
    const last = this.#terms.at(-1);
    if (word === "leads") this.#terms.push({ ...term, from: Number(at), until: undefined });
    else if (last !== undefined)
      this.#terms[this.#terms.length - 1] = { ...last, until: Number(at) };
  }
}
