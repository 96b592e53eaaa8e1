import type { TlsParts } from "./agents.ts";
import { requireServer } from "./http-transport.ts";
import { impersonationHeaders } from "./impersonation.ts";

/** The one context in the output of `kubectl config view --minify`. */
export interface KubectlView {
  /** Address of the server. */
  readonly url: URL;

  /** Name of the context. */
  readonly context: string;

  /** Namespace of the context. Where it names none, kubectl uses `default`. */
  readonly namespace: string;

  /** CA, client certificate, key and server name. */
  readonly parts: TlsParts;

  /** Token, if it is in the kubeconfig. */
  readonly token: string | undefined;

  /** File with the token. */
  readonly tokenFile: string | undefined;

  /** Name of the plugin that makes credentials. */
  readonly plugin: string | undefined;

  /** Headers that make the user act as another one: `as`, `as-uid`, `as-groups`, `as-user-extra`. */
  readonly impersonation: Readonly<Record<string, string | readonly string[]>>;
}

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads the output of `kubectl config view --raw --minify --flatten -o json`.
 *
 * @throws Error for output that is not a kubeconfig with a context, or one that asks for a proxy, a password, an
 * impersonation that cannot be read, or a CA that is not used.
 * The message has nothing of the output but names
 */
export function readView(output: string): KubectlView {
  const view = parse(output);
  const context = entry(view, "contexts", "context");
  const cluster = entry(view, "clusters", "cluster");
  const user = entry(view, "users", "user");
  if (context === undefined || cluster === undefined)
    throw new Error(
      "the kubeconfig must have a current context with a cluster: run kubectl config use-context",
    );
  if (cluster["proxy-url"] !== undefined || user?.["username"] !== undefined)
    throw new Error(
      "fromKubectl() does not support a proxy or a password in the kubeconfig: use atUrl() and kubectl proxy",
    );
  return {
    url: requireServer("server of the kubeconfig's cluster", cluster["server"]),
    context: text(view, "current-context") ?? "",
    namespace: text(context, "namespace") ?? "default",
    parts: tlsParts(cluster, user),
    token: text(user, "token"),
    tokenFile: text(user, "tokenFile"),
    plugin: pluginOf(user),
    impersonation: impersonationOf(user ?? {}),
  };
}

/** @throws Error for a CA that is not used */
function tlsParts(cluster: Entry, user: Entry | undefined): TlsParts {
  const parts: TlsParts = {
    ca: data(cluster, "certificate-authority-data"),
    cert: data(user, "client-certificate-data"),
    key: data(user, "client-key-data"),
    servername: text(cluster, "tls-server-name"),
    insecure: cluster["insecure-skip-tls-verify"] === true,
  };
  // As kubectl does: which of both is meant?
  if (parts.insecure === true && parts.ca !== undefined)
    throw new Error(
      "the kubeconfig has a certificate authority and insecure-skip-tls-verify: remove one of them",
    );
  return parts;
}

function parse(output: string): Entry {
  try {
    return (JSON.parse(output) ?? {}) as Entry;
  } catch {
    throw new Error("kubectl config view printed no JSON: check the version of kubectl");
  }
}

function entry(view: Entry, list: string, member: string): Entry | undefined {
  const entries = view[list] as readonly (Entry | null)[] | null | undefined;
  return entries?.[0]?.[member] as Entry | undefined;
}

function text(from: Entry | undefined, name: string): string | undefined {
  const value = from?.[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function data(from: Entry | undefined, name: string): string | undefined {
  const value = text(from, name);
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}

function pluginOf(user: Entry | undefined): string | undefined {
  const { exec, "auth-provider": provider } = user ?? {};
  return text(exec as Entry | undefined, "command") ?? text(provider as Entry | undefined, "name");
}

/** The headers that kubectl sends for a user who acts as another one. */
function impersonationOf(user: Entry): KubectlView["impersonation"] {
  const extra = (user["as-user-extra"] ?? {}) as Readonly<Record<string, unknown>>;
  const entries = Object.entries(extra).map(
    ([key, values]) => [key, textsOf(`as-user-extra.${key}`, values)] as const,
  );
  const name = text(user, "as");
  const uid = text(user, "as-uid");
  return impersonationHeaders({
    ...(name !== undefined && { user: name }),
    uid,
    groups: textsOf("as-groups", user["as-groups"]),
    extra: Object.fromEntries(entries),
  });
}

function textsOf(name: string, value: unknown): readonly string[] {
  const values = value ?? [];
  if (Array.isArray(values) && values.every((one) => typeof one === "string"))
    return values as string[];
  throw new Error(`${name} of the kubeconfig's user must be a list of texts`);
}
