import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("./replica/main.js", import.meta.url));

/** Processes that run the operator. */
export class Replicas {
  readonly #env: NodeJS.ProcessEnv;
  readonly #tell: (text: string) => void;
  readonly #children = new Map<string, ChildProcess>();
  readonly #exits = new Set<Promise<unknown>>();
  #started = 0;

  /**
   * @param env - environment of each
   * @param tell - called with each start and exit
   */
  constructor(env: NodeJS.ProcessEnv, tell: (text: string) => void) {
    this.#env = env;
    this.#tell = tell;
  }

  /** Names and process ids. */
  list(): readonly { readonly name: string; readonly pid: number | undefined }[] {
    return [...this.#children].map(([name, { pid }]) => ({ name, pid }));
  }

  start(): void {
    const name = `replica-${++this.#started}`;
    const child = fork(MAIN, [], {
      env: { ...process.env, ...this.#env, IDENTITY: name },
      // Its own process group: Ctrl-C reaches this process, which stops its replicas.
      detached: true,
    });
    this.#children.set(name, child);
    this.#tell(`${name} started`);
    const exit = once(child, "exit").then(([code, signal]) => {
      this.#children.delete(name);
      this.#exits.delete(exit);
      this.#tell(`${name} exited: ${signal ?? `code ${code}`}`);
    });
    this.#exits.add(exit);
  }

  /** Sends a signal. */
  kill(name: string, signal: "SIGTERM" | "SIGKILL"): void {
    this.#children.get(name)?.kill(signal);
  }

  /** Sends a signal to all, and waits for their exits. */
  async killAll(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    for (const child of this.#children.values()) child.kill(signal);
    await Promise.all(this.#exits);
  }
}
