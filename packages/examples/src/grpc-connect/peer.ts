import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * How the peer treats a client.
 *
 * | Behaviour | The client sees |
 * | --- | --- |
 * | `refuse` | no listener: ECONNREFUSED |
 * | `hang` | a TCP connection without data |
 * | `reset` | a TCP connection that is reset at once |
 * | `accept` | an HTTP/2 server and its SETTINGS |
 */
export type Behaviour = "refuse" | "hang" | "reset" | "accept";

/** Lies beside the sources: the build copies no .mjs. */
const PROGRAM = fileURLToPath(new URL("../../src/grpc-connect/demo/peer.mjs", import.meta.url));

/** Lets the system choose a free port. */
const ANY_PORT = 0;

function start(): ChildProcess {
  return fork(PROGRAM, { execArgv: [] });
}

/** Resolves with the port that a server listens on. */
async function listen(server: ChildProcess, behaviour: Behaviour, port: number): Promise<number> {
  const tooSoon = once(server, "exit").then(() => {
    throw new Error(`the server cannot listen on port ${port}: another program has taken it`);
  });
  tooSoon.catch(() => {});
  server.send({ behaviour, port });
  const [listening] = await Promise.race([once(server, "message"), tooSoon]);
  return (listening as { readonly port: number }).port;
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
  /** Started in advance, so that no attempt waits for it. */
  #next = start();

  private constructor(port: number) {
    this.port = port;
  }

  /**
   * Finds a port by listening on it once. The new peer refuses connections.
   *
   * @param port - the port of every server; a free one by default
   */
  static async open(port: number = ANY_PORT): Promise<Peer> {
    const server = start();
    const found = await listen(server, "reset", port);
    await stop(server);
    return new Peer(found);
  }

  /** The running processes. */
  get pids(): readonly number[] {
    return [this.#current?.pid, this.#next.pid].filter((pid) => pid !== undefined);
  }

  /** Kills the server. Resolves when the next one listens; `refuse` has none. */
  async become(behaviour: Behaviour): Promise<void> {
    if (this.#current !== undefined) await stop(this.#current);
    this.#current = undefined;
    if (behaviour === "refuse") return;
    const server = this.#next;
    this.#current = server;
    this.#next = start();
    await listen(server, behaviour, this.port);
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
