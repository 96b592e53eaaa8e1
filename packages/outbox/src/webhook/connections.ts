import { Agent as HttpAgent, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";

/** How long a connection is kept without a request, in milliseconds: most servers close theirs after 5 s or later. */
const IDLE = 4_000;

/** Connections that are kept without a request, to all hosts together. */
const MOST = 100;

/** The connections of a publisher to its receivers. */
export class Connections {
  readonly #idle = new IdleSockets();
  /** A connection that was allowed to lead to a private address serves no message without that permission. */
  readonly #agents = { trusted: this.#kept(), guarded: this.#kept(), fresh: pair(false) };

  /** The agent that gives a request its connection: one that is kept, or a fresh one that serves this request alone. */
  agentOf(url: URL, kind: "trusted" | "guarded" | "fresh"): HttpAgent {
    const { http, https } = this.#agents[kind];
    return url.protocol === "https:" ? https : http;
  }

  /** Learns from a response how long its receiver keeps the connection. */
  learn({ socket, headers }: IncomingMessage): void {
    this.#idle.limit(socket, String(headers["keep-alive"]));
  }

  /** Closes all, also those in use. */
  end(): void {
    for (const { http, https } of Object.values(this.#agents)) {
      http.destroy();
      https.destroy();
    }
  }

  #kept(): AgentPair {
    const agents = pair(true);
    this.#idle.watch(agents.http);
    this.#idle.watch(agents.https);
    return agents;
  }
}

interface AgentPair {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

function pair(keepAlive: boolean): AgentPair {
  return { http: new HttpAgent({ keepAlive }), https: new HttpsAgent({ keepAlive }) };
}

/** Closes sockets that have been idle for too long, and the oldest ones of too many. */
class IdleSockets {
  /** In the order in which they became idle. */
  readonly #idle = new Set<Socket>();
  readonly #limits = new WeakMap<Socket, number>();

  limit(socket: Socket, keepAlive: string): void {
    if (!this.#limits.has(socket)) socket.once("close", () => this.#idle.delete(socket));
    const [, seconds = Number.POSITIVE_INFINITY] =
      /(?:^|[\s,;])timeout=(\d+)/i.exec(keepAlive) ?? [];
    // A second less: a request may be on its way when the receiver closes the connection.
    this.#limits.set(socket, Math.min(IDLE, (Number(seconds) - 1) * 1_000));
  }

  watch(agent: HttpAgent): void {
    const { keepSocketAlive, reuseSocket } = agent;
    agent.keepSocketAlive = (stream) => {
      const socket = stream as Socket;
      const time = this.#limits.get(socket) ?? IDLE;
      // Node closes the connection if this returns false, as later versions of it do by themselves.
      if ((keepSocketAlive.call(agent, socket) as unknown) === false || time <= 0) return false;
      socket.setTimeout(time); // An agent closes an idle socket when its time is up.
      this.#idle.add(socket);
      if (this.#idle.size > MOST) this.#closeOldest();
      return true;
    };
    agent.reuseSocket = (stream, request) => {
      const socket = stream as Socket;
      this.#idle.delete(socket);
      socket.setTimeout(0);
      reuseSocket.call(agent, socket, request);
    };
  }

  #closeOldest(): void {
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    this.#idle.delete(oldest);
    oldest.destroy();
  }
}
