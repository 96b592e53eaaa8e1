import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { type Kinds, parsed, requireText, text } from "@holdfast/kit";
import { warn } from "../logger.ts";
import { AgentKeeper, newAgent } from "./agents.ts";
import { codeOf } from "./connection-error.ts";
import { bearer, CredentialCache, Credentials } from "./credentials.ts";
import { HttpTransport } from "./http-transport.ts";
import type { KubeTransport } from "./kube-transport.ts";
import { type KubectlView, readView } from "./kubectl-view.ts";
import { warnOfProxy } from "./proxy-warning.ts";
import { runKubectl, runKubectlSync } from "./run-kubectl.ts";
import { TextFiles } from "./text-files.ts";
import { resolveTransport, TRANSPORT_OPTIONS, type TransportOptions } from "./transport-options.ts";

/** Milliseconds after which credentials are read or created again: half of the hour that a token is valid. */
const MAX_AGE = 1_800_000;

/** Options for {@link fromKubectl}. */
export interface FromKubectlOptions extends TransportOptions {
  /**
   * Name of the context.
   *
   * @defaultValue the current one
   */
  readonly context?: string | undefined;

  /**
   * Service account, `"namespace/name"`, to act as. Its tokens come from `kubectl create token`. Needed where
   * a plugin makes the credentials of the context.
   *
   * @defaultValue the user of the context
   */
  readonly serviceAccount?: string | undefined;

  /**
   * The program kubectl.
   *
   * @defaultValue `"kubectl"`
   */
  readonly kubectl?: string | undefined;
}

export const FROM_KUBECTL_OPTIONS: Kinds<FromKubectlOptions> = {
  ...TRANSPORT_OPTIONS,
  context: text,
  serviceAccount: parsed("serviceAccount"),
  kubectl: text,
};

/**
 * A transport with the address and the credentials that kubectl uses, for programs on a laptop. A user that the
 * kubeconfig impersonates (`as`, `as-uid`, `as-groups`, `as-user-extra`) is impersonated here too.
 *
 * Runs `kubectl config view --raw` once, which blocks for some tens of milliseconds, and again every 30 minutes and
 * after the server refused the credentials or TLS failed: a renewed certificate or authority is used at once. Tokens of a
 * service account and of a token file are renewed then, too. A relative `tokenFile` belongs to the folder of the kubeconfig.
 * If they cannot be read, or kubectl hangs, the last ones stay in use until the server refuses them, and a warning is logged.
 *
 * The transport keeps its context, also if another one becomes the current one. A context that has got another server is
 * an error: its credentials are not sent to the first.
 *
 * @param options - see {@link FromKubectlOptions}
 * @returns the transport, whose `namespace` is that of the context, or `default`. Nothing is sent yet. A
 * kubeconfig that turns verification of TLS off is logged as a warning, once
 * @throws Error if kubectl is missing, the context does not exist, or a plugin makes its credentials and
 * `serviceAccount` is not given
 *
 * @example
 * ```ts no-run
 * import { fromKubectl, inCluster, KubeClient } from "@holdfast/kubernetes";
 *
 * const isInPod = process.env["KUBERNETES_SERVICE_HOST"] !== undefined;
 * const client = new KubeClient({ transport: isInPod ? inCluster() : fromKubectl() });
 * ```
 */
export function fromKubectl(options: FromKubectlOptions = {}): KubeTransport {
  const resolved = resolveTransport(options, "fromKubectl", FROM_KUBECTL_OPTIONS);
  const { clock, logger } = resolved;
  const given = resolveUser(resolved);
  const view = checked(readView(runKubectlSync(given.kubectl, viewArgs(given))), given);
  const { url, context, namespace } = view;
  // Another context may become the current one, whose credentials are not for this server.
  const user = context === "" ? given : { ...given, contextArgs: [`--context=${context}`] };
  const description = `${url.origin} (kubectl context ${context})`;
  if (view.parts.insecure === true && url.protocol === "https:")
    warn(logger, { server: url.origin }, "TLS verification is off: the kubeconfig disables it");

  warnOfProxy(url, logger);
  const agents = new AgentKeeper();
  const files = new TextFiles();
  let first: KubectlView | undefined = view;
  const load = async (): Promise<Credentials> => {
    const current =
      first ?? checked(readView(await runKubectl(user.kubectl, viewArgs(user))), user);
    first = undefined;
    if (current.url.href !== url.href)
      throw new Error(
        `context ${context} of the kubeconfig has another server than ${url.origin}, ${current.url.origin}: start the program again`,
      );
    const token = await tokenOf(current, user, files);
    const { cert, key, ...rest } = current.parts;
    // A server that sees a client certificate does not look at the token.
    const parts = user.account === undefined ? current.parts : rest;
    // The token of a service account is asked for as the impersonated user, and used as it is.
    const impersonation = user.account === undefined ? current.impersonation : {};
    return new Credentials(
      agents.agentFor(parts, () => newAgent(url, parts)),
      { ...(token === undefined ? {} : bearer(token)), ...impersonation },
    );
  };
  const credentials = new CredentialCache({ load, maxAge: MAX_AGE, clock, logger });
  return new HttpTransport({ url, description, namespace, credentials, agents, logger });
}

/** Which context and which account are used. */
interface User {
  readonly kubectl: string;
  readonly contextArgs: readonly string[];
  readonly account: readonly [namespace: string, name: string] | undefined;
}

function resolveUser({ context, serviceAccount, kubectl = "kubectl" }: FromKubectlOptions): User {
  const contextArgs = context === undefined ? [] : [`--context=${context}`];
  if (serviceAccount === undefined) return { kubectl, contextArgs, account: undefined };
  requireText("options.serviceAccount", serviceAccount);
  const [, namespace, name] =
    /^([a-z0-9][-a-z0-9]*)\/([a-z0-9][-.a-z0-9]*)$/.exec(serviceAccount) ?? [];
  if (namespace === undefined || name === undefined)
    throw new RangeError(
      `options.serviceAccount must be "namespace/name", got ${JSON.stringify(serviceAccount)}`,
    );
  return { kubectl, contextArgs, account: [namespace, name] };
}

// `--flatten` puts the content of files in place of their names.
function viewArgs({ contextArgs }: User): readonly string[] {
  return ["config", "view", "--raw", "--minify", "--flatten", "-o", "json", ...contextArgs];
}

function checked(view: KubectlView, { account }: User): KubectlView {
  if (view.plugin === undefined || account !== undefined) return view;
  throw new Error(
    `the plugin "${view.plugin}" provides the credentials of context "${view.context}": pass serviceAccount, or use atUrl() and kubectl proxy, or fromKubeConfig() and @kubernetes/client-node`,
  );
}

async function tokenOf(
  view: KubectlView,
  user: User,
  files: TextFiles,
): Promise<string | undefined> {
  const { kubectl, contextArgs, account } = user;
  if (account !== undefined) {
    const [namespace, name] = account;
    const args = [
      "create",
      "token",
      name,
      `--namespace=${namespace}`,
      "--duration=1h",
      ...contextArgs,
    ];
    return (await runKubectl(kubectl, args)).trim();
  }
  const { token, tokenFile } = view;
  if (token !== undefined || tokenFile === undefined) return token;
  const [file, ...others] = placesOf(tokenFile);
  for (const other of others) {
    // Undefined: the kubeconfig is another one.
    const text = await files.read(other).catch(() => undefined);
    if (text !== undefined) return requireToken(other, text);
  }
  const text = await files.read(file).catch((error: unknown) => {
    throw new Error(`${file} cannot be read (${codeOf(error)}): check tokenFile of the kubeconfig`);
  });
  return requireToken(file, text);
}

/** @throws Error for an empty one: a server may take the client for anonymous */
function requireToken(source: string, text: string): string {
  if (text.trim() === "") throw new Error(`${source} is empty: check tokenFile of the kubeconfig`);
  return text.trim();
}

/**
 * Where a file of the kubeconfig may be. kubectl does not say which file of KUBECONFIG names it. The last one is the first
 * to be tried.
 */
function placesOf(file: string): readonly [string, ...string[]] {
  if (isAbsolute(file)) return [file];
  const { KUBECONFIG = "" } = process.env;
  const [first = join(homedir(), ".kube", "config"), ...more] = KUBECONFIG.split(delimiter).filter(
    (path) => path !== "",
  );
  return [resolve(dirname(first), file), ...more.map((path) => resolve(dirname(path), file))];
}
