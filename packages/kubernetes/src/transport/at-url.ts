import { func, type Kinds, kind, text } from "@holdfast/kit";
import { AgentKeeper, newAgent, type TlsParts } from "./agents.ts";
import { bearer, CredentialCache, Credentials } from "./credentials.ts";
import { HttpTransport, requireServer } from "./http-transport.ts";
import { type Impersonation, impersonationHeaders, requireImpersonation } from "./impersonation.ts";
import type { KubeTransport } from "./kube-transport.ts";
import { warnOfProxy } from "./proxy-warning.ts";
import { resolveTransport, TRANSPORT_OPTIONS, type TransportOptions } from "./transport-options.ts";

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
   * The client's certificate, PEM, with the certificates between it and the authority. It needs `key`, and an address with
   * `https:`. A renewed one needs another transport: a kubeconfig is read again, see {@link fromKubectl}.
   *
   * @defaultValue none
   */
  readonly cert?: string | undefined;

  /**
   * The key of `cert`, PEM, without a password. No error shows it.
   *
   * @defaultValue none
   */
  readonly key?: string | undefined;

  /**
   * The user as whom each request is made, if the client has the right `impersonate` for it. Otherwise the server answers
   * 403 `Forbidden`.
   *
   * @defaultValue the client itself
   */
  readonly impersonate?: Impersonation | undefined;

  /**
   * Returns the bearer token. Called at most every 10 seconds, and again after the server refused the last
   * one. While it rejects or hangs, the last token stays in use until the server refuses it. It is not sent over http, except to this machine: a warning says so once.
   *
   * @defaultValue none
   */
  readonly token?: (() => string | Promise<string>) | undefined;
}

const pem = kind("pem", requirePem);

export const AT_URL_OPTIONS: Kinds<AtUrlOptions> = {
  ...TRANSPORT_OPTIONS,
  ca: text,
  cert: pem,
  key: pem,
  impersonate: kind("impersonate", requireImpersonation),
  token: func,
};

/**
 * A transport to an address: `kubectl proxy`, a `FakeApi` that listens, or a server with a token or a client certificate.
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
 *
 * @example
 * With a client certificate, as somebody else.
 *
 * ```ts no-run
 * import { readFileSync } from "node:fs";
 * import { atUrl } from "@holdfast/kubernetes";
 *
 * const pem = (name: string): string => readFileSync(`/etc/robot/${name}`, "utf8");
 * const transport = atUrl("https://10.0.0.1:6443", {
 *   ca: pem("ca.crt"),
 *   cert: pem("tls.crt"),
 *   key: pem("tls.key"),
 *   impersonate: { user: "system:serviceaccount:team-a:greeter", groups: ["auditors"] },
 * });
 * ```
 */
export function atUrl(url: string, options: AtUrlOptions = {}): KubeTransport {
  const server = requireServer("url", url);
  const given = resolveTransport(options, "atUrl", AT_URL_OPTIONS);
  const { clock, logger, impersonate, token } = given;
  const parts = resolveTls(server, given);
  warnOfProxy(server, logger);
  const agents = new AgentKeeper();
  const headers = impersonationHeaders(impersonate ?? {});
  const load = async (): Promise<Credentials> => {
    const agent = agents.agentFor(parts, () => newAgent(server, parts));
    return new Credentials(agent, {
      ...(token !== undefined && bearer(await token())),
      ...headers,
    });
  };
  const credentials = new CredentialCache({ load, maxAge: MAX_AGE, clock, logger });
  const description = server.href.replace(/\/$/, "");
  return new HttpTransport({ url: server, description, credentials, agents, logger });
}

/** @throws RangeError that names the option */
function resolveTls(server: URL, { ca, cert, key }: AtUrlOptions): TlsParts {
  if ((cert === undefined) !== (key === undefined))
    throw new RangeError("options.cert and options.key must be given together, got one of them");
  if (cert !== undefined && server.protocol !== "https:")
    throw new RangeError(`options.cert needs an address with "https:", got ${server.origin}`);
  return { ca, cert, key };
}

/** @throws TypeError or RangeError, without the value, which may be a key */
function requirePem(name: string, value: unknown): void {
  if (typeof value !== "string")
    throw new TypeError(`${name} must be PEM text, got ${typeof value}`);
  if (!value.includes("-----BEGIN "))
    throw new RangeError(`${name} must be PEM text with "-----BEGIN …", got none`);
}
