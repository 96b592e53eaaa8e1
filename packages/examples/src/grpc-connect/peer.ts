import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * What a client meets at an address.
 *
 * | Behaviour | The client sees |
 * | --- | --- |
 * | `refuse` | nobody listens: ECONNREFUSED |
 * | `hang` | a TCP connection over which nothing comes |
 * | `reset` | a TCP connection that is reset at once |
 * | `accept` | an HTTP/2 server and its SETTINGS |
 */
export type Behaviour = "refuse" | "hang" | "reset" | "accept";

/** Stands beside the sources: what is built contains no .mjs. */
const PROGRAM = fileURLToPath(new URL("../../src/grpc-connect/demo/peer.mjs", import.meta.url));

function start(): ChildProcess {
  return fork(PROGRAM, { execArgv: [] });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** A server in a process of its own, which is killed at each change of behaviour. */
export class Peer {
  readonly port: number;
  #current: ChildProcess | undefined;
  /** Started ahead of its time, so that no attempt has to wait for it. */
  #next = start();

  constructor(port: number) {
    this.port = port;
  }

  /** The processes that are there. */
  get pids(): readonly number[] {
    return [this.#current?.pid, this.#next.pid].filter((pid) => pid !== undefined);
  }

  /** Kills the server; resolves when the next one listens, or at once where none is to. */
  async become(behaviour: Behaviour): Promise<void> {
    if (this.#current !== undefined) await stop(this.#current);
    this.#current = undefined;
    if (behaviour === "refuse") return;
    const server = this.#next;
    this.#current = server;
    this.#next = start();
    const tooSoon = once(server, "exit").then(() => {
      throw new Error(`nobody can listen on port ${this.port}`);
    });
    server.send({ behaviour, port: this.port });
    await Promise.race([once(server, "message"), tooSoon]);
    tooSoon.catch(() => {});
  }

  kill(): void {
    this.#current?.kill("SIGKILL");
  }

  /** Kills every process; resolves when they are gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.become("refuse");
    await stop(this.#next);
  }
}
