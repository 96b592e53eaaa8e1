import { type OptionNames, requireFunction, requireText } from "@holdfast/clock/internal";
import { AgentKeeper, newAgent } from "./agents.ts";
import { bearer, CredentialCache, Credentials } from "./credentials.ts";
import { HttpTransport, requireServer } from "./http-transport.ts";
import type { KubeTransport } from "./kube-transport.ts";
import { warnOfProxy } from "./proxy-warning.ts";
import { resolveTransport, type TransportOptions } from "./transport-options.ts";

/** Milliseconds after which the token is asked for again. */
const MAX_AGE = 10_000;

/** Options for {@link atUrl}. */
export interface AtUrlOptions extends TransportOptions {
  /**
   * Certificates of the authorities that may sign the server's, PEM.
   *
   * @defaultValue those of Node
   */
  readonly ca?: string | undefined;

  /**
   * Returns the bearer token. Called at most every 10 seconds, and again after the server refused the last
   * one. While it rejects or hangs, the last token stays in use until the server refuses it. It is not sent over http, except to this machine: a warning says so once.
   *
   * @defaultValue none
   */
  readonly token?: (() => string | Promise<string>) | undefined;
}

const OPTIONS: OptionNames<AtUrlOptions> = {
  clock: true,
  logger: true,
  ca: true,
  token: true,
};

/**
 * A transport to an address: `kubectl proxy`, a `FakeApi` that listens, or a server with a token.
 *
 * @param url - address, `http:` or `https:`, without user, password and query. A path is put in front of
 * every request
 * @param options - see {@link AtUrlOptions}
 * @returns the transport. Nothing is sent yet
 * @throws RangeError or TypeError for a bad argument
 *
 * @example
 * ```ts
 * import { atUrl } from "@holdfast/kubernetes";
 *
 * const transport = atUrl("http://127.0.0.1:8001"); // kubectl proxy
 * console.log(transport.description); // => http://127.0.0.1:8001
 * ```
 */
export function atUrl(url: string, options: AtUrlOptions = {}): KubeTransport {
  const server = requireServer("url", url);
  const { clock, logger } = resolveTransport(options, "atUrl", OPTIONS);
  const { ca, token } = options;
  if (ca !== undefined) requireText("options.ca", ca);
  if (token !== undefined) requireFunction("options.token", token);
  warnOfProxy(server, logger);
  const agents = new AgentKeeper();
  const load = async (): Promise<Credentials> => {
    const agent = agents.agentFor({ ca }, () => newAgent(server, { ca }));
    return new Credentials(agent, token === undefined ? {} : bearer(await token()));
  };
  const credentials = new CredentialCache({ load, maxAge: MAX_AGE, clock, logger });
  const description = server.href.replace(/\/$/, "");
  return new HttpTransport({ url: server, description, credentials, agents, logger });
}
