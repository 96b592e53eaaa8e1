import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { type Kinds, text } from "@holdfast/kit";
import { record } from "../kinds.ts";
import { programLogger } from "../logger.ts";
import { AgentKeeper, newAgent } from "./agents.ts";
import { codeOf } from "./connection-error.ts";
import { bearer, CredentialCache, Credentials } from "./credentials.ts";
import { HttpTransport, requireServer } from "./http-transport.ts";
import type { KubeTransport } from "./kube-transport.ts";
import { warnOfProxy } from "./proxy-warning.ts";
import { TextFiles } from "./text-files.ts";
import { resolveTransport, TRANSPORT_OPTIONS, type TransportOptions } from "./transport-options.ts";

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

export const IN_CLUSTER_OPTIONS: Kinds<InClusterOptions> = {
  ...TRANSPORT_OPTIONS,
  directory: text,
  env: record,
};

/**
 * A transport for a program in a pod, with the pod's service account.
 *
 * The files `token` and `ca.crt` are read again every 60 seconds, and after the server refused the token or TLS failed. If
 * they cannot be read then, or the reading hangs, the last ones stay in use until the server refuses them, and a warning is
 * logged.
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
  const given = resolveTransport(options, "inCluster", IN_CLUSTER_OPTIONS, programLogger());
  const { clock, logger, env = process.env } = given;
  const { directory = "/var/run/secrets/kubernetes.io/serviceaccount" } = given;
  const url = serverOf(env);
  warnOfProxy(url, logger);
  const agents = new AgentKeeper();
  const files = new TextFiles();
  const load = async (): Promise<Credentials> => {
    const [token, ca] = await Promise.all([
      textOf(files, join(directory, "token")),
      textOf(files, join(directory, "ca.crt")),
    ]);
    const agent = agents.agentFor({ ca }, () => newAgent(url, { ca }));
    return new Credentials(agent, bearer(token));
  };
  const credentials = new CredentialCache({ load, maxAge: MAX_AGE, clock, logger });
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
    const namespace = beginningOf(join(directory, "namespace")).trim();
    return namespace === "" ? undefined : namespace;
  } catch {
    return undefined; // not every token is mounted with a namespace
  }
}

/** The first bytes of a file; none of a pipe. A name is far shorter. */
function beginningOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const part = Buffer.alloc(1_024);
    return part.toString("utf8", 0, readSync(file, part));
  } finally {
    closeSync(file);
  }
}

/** The text of a file of the service account. */
async function textOf(files: TextFiles, path: string): Promise<string> {
  const text = await files.read(path).catch((error: unknown) => {
    throw new Error(
      `${path} cannot be read (${codeOf(error)}): check that the pod mounts the token of its service account`,
    );
  });
  if (text.trim() === "")
    throw new Error(`${path} is empty: check the token of the pod's service account`);
  return text.trim();
}
