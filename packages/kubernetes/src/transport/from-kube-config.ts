import type { Agent } from "node:http";
import { requireMethods } from "@holdfast/kit";
import { warn } from "../logger.ts";
import { AgentKeeper, newAgent, type TlsParts } from "./agents.ts";
import { CredentialCache, Credentials } from "./credentials.ts";
import { HttpTransport, requireServer } from "./http-transport.ts";
import type { KubeTransport } from "./kube-transport.ts";
import { warnOfProxy } from "./proxy-warning.ts";
import { resolveTransport, TRANSPORT_OPTIONS, type TransportOptions } from "./transport-options.ts";

/** Milliseconds after which the options are asked for again. */
const MAX_AGE = 10_000;

/** Longest text of a plugin's error in a message. */
const MAX_TEXT = 1_000;

/** The part of `KubeConfig` of `@kubernetes/client-node` 1.x and 2.x that {@link fromKubeConfig} uses. */
export interface KubeConfigLike {
  /** The cluster of the current context. */
  getCurrentCluster(): KubeConfigCluster | null;

  /** Adds CA, certificate, key, headers and agent to options of `node:https`. */
  applyToHTTPSOptions(options: object): Promise<void>;

  /** Name of the current context. */
  getCurrentContext?(): string;

  /** A context by its name. */
  getContextObject?(name: string): { readonly namespace?: string | undefined } | null;
}

/** A cluster of a {@link KubeConfigLike}. */
export interface KubeConfigCluster {
  /** Address. */
  readonly server: string;

  /** Whether the certificate of the server is not verified. */
  readonly skipTLSVerify?: boolean | undefined;

  /** Address of a proxy. */
  readonly proxyUrl?: string | undefined;
}

/** The options of `node:https` that a `KubeConfig` fills in. */
interface HttpsOptions {
  readonly headers?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly auth?: string;
  readonly agent?: Agent;
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
}

/**
 * A transport with the kubeconfig of `@kubernetes/client-node`: its certificates, tokens, exec plugins and
 * proxies.
 *
 * The kubeconfig is asked for its options at most every 10 seconds, and again after the server refused the
 * credentials. An exec plugin runs again when its credentials have expired, or when the server refused them. Connections stay open as long as CA, certificate, key and server name are the same. If an exec plugin fails or hangs,
 * the last credentials stay in use until the server refuses them, and a warning is logged. The transport belongs to the
 * context and the server that the kubeconfig has now: after a change of them it does not read from it.
 *
 * @param config - a `KubeConfig` of version 1.x or 2.x, loaded, with a current context
 * @param options - see {@link TransportOptions}
 * @returns the transport, whose `namespace` is that of the context, or `default`. Nothing is sent yet. A
 * kubeconfig that turns verification of TLS off is logged as a warning, once
 * @throws TypeError if `config` is not a `KubeConfig`, RangeError if it has no current context
 *
 * @example
 * ```ts no-run
 * import { fromKubeConfig, KubeClient } from "@holdfast/kubernetes";
 * import { KubeConfig } from "@kubernetes/client-node";
 *
 * const config = new KubeConfig();
 * config.loadFromDefault();
 * const client = new KubeClient({ transport: fromKubeConfig(config) });
 * ```
 */
export function fromKubeConfig(
  config: KubeConfigLike,
  options: TransportOptions = {},
): KubeTransport {
  requireMethods("config", config, ["getCurrentCluster", "applyToHTTPSOptions"]);
  const { clock, logger } = resolveTransport(options, "fromKubeConfig", TRANSPORT_OPTIONS);
  const cluster = config.getCurrentCluster();
  if (cluster === null || cluster === undefined)
    throw new RangeError(
      "config must have a current context with an existing cluster, got none: check current-context of the kubeconfig",
    );
  const url = requireServer("server of the kubeconfig's cluster", cluster.server);
  const { name, namespace } = contextOf(config);
  const description = `${url.origin} (kubeconfig${name})`;
  const insecure = cluster.skipTLSVerify === true && url.protocol === "https:";
  if (insecure)
    warn(logger, { server: url.origin }, "TLS verification is off: the kubeconfig disables it");
  if (cluster.proxyUrl === undefined) warnOfProxy(url, logger);
  const agents = new AgentKeeper();
  const source = new Source(config);
  const load = async (areRefused: boolean): Promise<Credentials> => {
    // The credentials of another cluster or user are not for this server.
    if (config.getCurrentCluster()?.server !== cluster.server || contextOf(config).name !== name)
      throw new Error(
        `config has another current context or server than ${description}: create another transport`,
      );
    const applied = await optionsOf(source.config(areRefused), description);
    const { ca, cert, key, servername } = applied;
    const parts: TlsParts = { ca, cert, key, servername, insecure };
    const agent = agents.agentFor(parts, () => applied.agent ?? newAgent(url, parts));
    return new Credentials(agent, headersOf(applied));
  };
  const credentials = new CredentialCache({ load, maxAge: MAX_AGE, clock, logger });
  return new HttpTransport({ url, description, namespace, credentials, agents, logger });
}

/** A user of a kubeconfig, with a plugin of the old form. */
interface CopiedUser {
  readonly authProvider?: { readonly config?: Readonly<Record<string, unknown>> };
}

/** The parts of a `KubeConfig` from which another one is made. */
interface CopiedConfig extends KubeConfigLike {
  readonly users?: readonly CopiedUser[];
  readonly clusters?: unknown;
  readonly contexts?: unknown;
  readonly currentContext?: unknown;
  readonly custom_authenticators?: readonly unknown[];
  loadFromOptions?(options: object): void;
  addAuthenticator?(authenticator: unknown): void;
}

/**
 * The kubeconfig that is asked for credentials. A `KubeConfig` keeps those of an exec plugin until they expire, also if the
 * server refuses them: another one of the same content asks the plugin again.
 */
class Source {
  readonly #config: CopiedConfig;
  #copy: { readonly of: unknown; readonly config: KubeConfigLike } | undefined;

  constructor(config: KubeConfigLike) {
    this.#config = config;
  }

  config(areRefused: boolean): KubeConfigLike {
    const { users } = this.#config;
    if (areRefused && this.#config.loadFromOptions !== undefined)
      this.#copy = { of: users, config: copyOf(this.#config) };
    // After `loadFrom…` the content is another one.
    return this.#copy?.of === users && this.#copy !== undefined ? this.#copy.config : this.#config;
  }
}

function copyOf(config: CopiedConfig): KubeConfigLike {
  const { clusters, contexts, currentContext, custom_authenticators = [] } = config;
  const users = config.users?.map(withoutToken);
  const { constructor: KubeConfig } = config as { readonly constructor: unknown };
  const copy = new (KubeConfig as new () => CopiedConfig)();
  copy.loadFromOptions?.({ clusters, users, contexts, currentContext });
  for (const authenticator of custom_authenticators) copy.addAuthenticator?.(authenticator);
  return copy;
}

/** Without the token that a plugin of the old form, with a command, has written into its user. */
function withoutToken(user: CopiedUser): CopiedUser {
  const { authProvider } = user;
  if (authProvider?.config?.["cmd-path"] === undefined) return user;
  const { "access-token": _, ...config } = authProvider.config;
  return { ...user, authProvider: { ...authProvider, config } };
}

/** A context that names no namespace means `default`, as in kubectl. */
function contextOf(config: KubeConfigLike): { name: string; namespace: string } {
  const context = config.getCurrentContext?.() ?? "";
  const namespace = config.getContextObject?.(context)?.namespace || "default";
  return { name: context === "" ? "" : ` context ${context}`, namespace };
}

async function optionsOf(config: KubeConfigLike, description: string): Promise<HttpsOptions> {
  const options: HttpsOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    const text = error instanceof Error ? error.message : typeof error;
    throw new Error(
      `the credentials for ${description} cannot be read: ${text.slice(0, MAX_TEXT)}`,
    );
  }
  return options;
}

function headersOf({ headers = {}, auth }: HttpsOptions): Record<string, string> {
  const named = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(", ")] as const],
  );
  const basic =
    auth === undefined ? {} : { authorization: `Basic ${Buffer.from(auth).toString("base64")}` };
  return { ...Object.fromEntries(named), ...basic };
}
