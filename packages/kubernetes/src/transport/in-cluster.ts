import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type OptionNames, requireOptions, requireText } from "@holdfast/clock/internal";
import type { Logger } from "@holdfast/controller";
import { programLogger, warn } from "../logger.ts";
import { AgentKeeper, newAgent } from "./agents.ts";
import { codeOf } from "./connection-error.ts";
import { bearer, CredentialCache, Credentials } from "./credentials.ts";
import { HttpTransport, requireServer } from "./http-transport.ts";
import type { KubeTransport } from "./kube-transport.ts";
import { warnOfProxy } from "./proxy-warning.ts";
import { resolveTransport, type TransportOptions } from "./transport-options.ts";

/** Milliseconds after which the files are read again. */
const MAX_AGE = 60_000;

/** Options for {@link inCluster}. */
export interface InClusterOptions extends TransportOptions {
  /**
   * Folder with the files `token`, `ca.crt` and `namespace`.
   *
   * @defaultValue `"/var/run/secrets/kubernetes.io/serviceaccount"`
   */
  readonly directory?: string | undefined;

  /**
   * Environment with `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`.
   *
   * @defaultValue `process.env`
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const OPTIONS: OptionNames<InClusterOptions> = {
  clock: true,
  logger: true,
  directory: true,
  env: true,
};

/**
 * A transport for a program in a pod, with the pod's service account.
 *
 * The files `token` and `ca.crt` are read again every 60 seconds, and after the server refused the token or TLS failed. If
 * they cannot be read then, the last token stays in use until the server refuses it, and a warning is logged.
 *
 * @param options - see {@link InClusterOptions}
 * @returns the transport, whose `namespace` is that of the pod. Nothing is sent yet
 * @throws Error outside of a pod: `KUBERNETES_SERVICE_HOST` is not set
 *
 * Source: `InClusterConfig` of k8s.io/client-go/rest.
 *
 * @example
 * ```ts no-run
 * import { inCluster, KubeClient } from "@holdfast/kubernetes";
 *
 * const client = new KubeClient({ transport: inCluster() });
 * ```
 */
export function inCluster(options: InClusterOptions = {}): KubeTransport {
  const { clock, logger } = resolveTransport(options, "inCluster", OPTIONS, programLogger());
  const { directory = "/var/run/secrets/kubernetes.io/serviceaccount", env = process.env } =
    options;
  requireText("options.directory", directory);
  requireOptions("options.env", env);
  const url = serverOf(env);
  warnOfProxy(url, logger);
  const agents = new AgentKeeper();
  const files = new ServiceAccountFiles(directory, logger);
  const load = async (): Promise<Credentials> => {
    const { ca, token } = await files.read();
    const agent = agents.agentFor({ ca }, () => newAgent(url, { ca }));
    return new Credentials(agent, bearer(token));
  };
  const onRefused = (): void => files.forget();
  const credentials = new CredentialCache({ load, maxAge: MAX_AGE, clock, onRefused });
  const description = `${url.origin} (service account)`;
  return new HttpTransport({
    url,
    description,
    namespace: namespaceIn(directory),
    credentials,
    agents,
    logger,
  });
}

function serverOf(env: Readonly<Record<string, string | undefined>>): URL {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (host === "")
    throw new Error(
      "inCluster() works in a pod only: KUBERNETES_SERVICE_HOST is not set. Use fromKubectl() elsewhere",
    );
  const address = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return requireServer("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT", address);
}

function namespaceIn(directory: string): string | undefined {
  try {
    const namespace = readFileSync(join(directory, "namespace"), "utf8").trim();
    return namespace === "" ? undefined : namespace;
  } catch {
    return undefined; // not every token is mounted with a namespace
  }
}

/** A token and the CA of the server it is for. */
interface Account {
  readonly token: string;
  readonly ca: string;
}

/** The files of a service account. Keeps the last ones for the time in which they cannot be read. */
class ServiceAccountFiles {
  readonly #directory: string;
  readonly #logger: Logger;
  #last: Account | undefined;

  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  forget(): void {
    this.#last = undefined;
  }

  async read(): Promise<Account> {
    try {
      const [token, ca] = await Promise.all([this.#text("token"), this.#text("ca.crt")]);
      this.#last = { token, ca };
      return this.#last;
    } catch (error) {
      if (this.#last === undefined) throw error;
      const { message } = error as Error;
      warn(
        this.#logger,
        { reason: message },
        "service account not read; the last token stays in use",
      );
      return this.#last;
    }
  }

  async #text(name: string): Promise<string> {
    const path = join(this.#directory, name);
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      throw new Error(
        `${path} cannot be read (${codeOf(error)}): check that the pod mounts the token of its service account`,
      );
    });
    if (text.trim() === "")
      throw new Error(`${path} is empty: check the token of the pod's service account`);
    return text.trim();
  }
}
