import { findByCode } from "@holdfast/kit";

const CODE = "ERR_KUBERNETES_CONNECTION";

/** Advice by error code of Node. The first matching pattern counts. */
const ADVICE: readonly (readonly [codes: RegExp, advice: string])[] = [
  [/^ECONNREFUSED$/, "check that the API server is running, and its port"],
  [/^(ENOTFOUND|EAI_)/, "its name was not found: check the name and DNS"],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, "check the network path to it"],
  [/^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, "the connection broke; it may be restarting"],
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/,
    "its certificate is not signed by the given certificate authority: check the CA",
  ],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, "check the dates of its certificate, and your clock"],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "its certificate is for other names: check the address, or the server name for TLS",
  ],
  [/^(EPROTO$|ERR_SSL_)/, "TLS failed: check the address and whether it is https or http"],
  [/^ERR_OSSL_/, "the CA, client certificate or key cannot be used: check them"],
  [/^HPE_/, "the response is not HTTP: check the address and whether it is https or http"],
  [/^Z_/, "the response is not valid gzip: check for a proxy in between"],
];

/**
 * A request got no response, or only a part of one: there was no connection, or it broke. The message names the
 * method, the path, the server, the code of Node and a thing to check.
 *
 * @example
 * ```ts
 * import { atUrl, isConnectionError, KubeClient, builtIn } from "@holdfast/kubernetes";
 *
 * const client = new KubeClient({ transport: atUrl("http://127.0.0.1:1") });
 * const error = await client.find(builtIn("v1", "ConfigMap"), "default/ann").catch((caught) => caught);
 * console.log(isConnectionError(error)); // => true
 * console.log(error.message);
 * // => GET /api/v1/namespaces/default/configmaps/ann: no response from http://127.0.0.1:1 (ECONNREFUSED): check that the API server is running, and its port
 * ```
 */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  /** Stable across versions and copies of this package. */
  readonly code: "ERR_KUBERNETES_CONNECTION" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_KUBERNETES_CONNECTION" = CODE;

  /** Description of the transport: the address of the server. */
  readonly server: string;

  /**
   * @param request - method and path of the request; the query is left out
   * @param server - description of the transport
   * @param cause - the error of Node
   */
  constructor(request: { method: string; path: string }, server: string, cause: unknown) {
    const { method, path } = request;
    const { code, advice } = explain(cause);
    super(
      `${method} ${path.replace(/\?.*/s, "")}: no response from ${server} (${code}): ${advice}`,
      {
        cause: withoutBytes(cause),
      },
    );
    this.server = server;
  }
}

/**
 * Whether an error is a {@link ConnectionError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isConnectionError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}

/** Codes of a TLS handshake that one side refused: the certificate, the authority or the key is not the right one. */
const TLS = /^(EPROTO$|ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/;

/** Whether TLS failed, so that the request was not carried out. */
export function isTlsRefusal(error: unknown): boolean {
  return error instanceof ConnectionError && TLS.test(codeOf(error.cause));
}

/** Whether the connection broke. A server that refuses a client certificate may say no more. */
export function isReset(error: unknown): boolean {
  return error instanceof ConnectionError && /^(ECONNRESET|EPIPE)$/.test(codeOf(error.cause));
}

/** The code of an error of Node, or its name. */
export function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (typeof code === "string") return code;
  return typeof name === "string" ? name : typeof error;
}

function explain(cause: unknown): { code: string; advice: string } {
  const code = codeOf(cause);
  const advice = ADVICE.find(([codes]) => codes.test(code))?.[1];
  return { code, advice: advice ?? "see the cause" };
}

// An error of Node's HTTP parser carries the bytes it could not read: these may be a Secret.
function withoutBytes(cause: unknown): unknown {
  if (typeof cause === "object" && cause !== null && "rawPacket" in cause) delete cause.rawPacket;
  return cause;
}
