import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";

/** Milliseconds after which an idle connection is closed: before load balancers and servers do it. */
const IDLE = 30_000;

/** The parts of a TLS connection that a kubeconfig names. */
export interface TlsParts {
  /** Certificates of the authorities that may sign the server's, PEM. Default: those of Node. */
  readonly ca?: string | Buffer | undefined;

  /** The client's certificate, PEM. */
  readonly cert?: string | Buffer | undefined;

  /** The client's key, PEM. */
  readonly key?: string | Buffer | undefined;

  /** Name that the server's certificate must have. Default: the host. */
  readonly servername?: string | undefined;

  /** Whether the server's certificate is not verified. */
  readonly insecure?: boolean | undefined;
}

const PARTS = ["ca", "cert", "key", "servername", "insecure"] as const;

/** Keeps one agent with connections that stay open, and makes another when a part of TLS changes. */
export class AgentKeeper {
  #agent: HttpAgent | undefined;
  #parts: TlsParts = {};

  /**
   * The agent for these parts: the last one if they are the same.
   *
   * @param make - makes the agent. Its connections are kept open then
   */
  agentFor(parts: TlsParts, make: () => HttpAgent): HttpAgent {
    const last = this.#agent;
    if (last !== undefined && PARTS.every((part) => isSame(parts[part], this.#parts[part])))
      return last;
    const agent = kept(make(), parts);
    this.#agent = agent;
    this.#parts = parts;
    if (last !== undefined) retire(last);
    return agent;
  }

  /** Closes the connections that no request uses. */
  closeIdle(): void {
    if (this.#agent !== undefined) closeFree(this.#agent);
  }
}

/** A new agent for requests to `server` alone. */
export function newAgent(server: URL, { ca, cert, key, servername }: TlsParts): HttpAgent {
  const isHttp = server.protocol === "http:";
  const parts = Object.entries({ ca, cert, key, servername }).filter(
    ([, part]) => part !== undefined,
  );
  const agent = isHttp ? new HttpAgent() : new HttpsAgent(Object.fromEntries(parts));
  // Node would name each connection by all its options, certificates included, twice for each request.
  agent.getName = () => server.host;
  return agent;
}

/** The fields of an agent of Node that its types leave out. They are documented as options. */
interface AgentFields {
  keepAlive: boolean;
  readonly options: { timeout?: number; rejectUnauthorized?: boolean };
}

function kept(agent: HttpAgent, { insecure = false }: TlsParts): HttpAgent {
  const { options } = agent as unknown as AgentFields;
  (agent as unknown as AgentFields).keepAlive = true;
  options.timeout = IDLE;
  // Said in words, or an environment variable of Node could turn it off.
  options.rejectUnauthorized = !insecure;
  return agent;
}

/** Lets requests in flight end, and closes their connections then. */
function retire(agent: HttpAgent): void {
  (agent as unknown as AgentFields).keepAlive = false;
  closeFree(agent);
}

function closeFree({ freeSockets }: HttpAgent): void {
  for (const sockets of Object.values(freeSockets) as Socket[][])
    for (const socket of sockets) socket.destroy();
}

function isSame(a: TlsParts[keyof TlsParts], b: TlsParts[keyof TlsParts]): boolean {
  if (typeof a === "object" && typeof b === "object") return a.equals(b);
  return a === b;
}
