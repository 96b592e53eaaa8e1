import { isIP } from "node:net";
import { readText } from "@holdfast/kit/node";

/** A TLS connection, as both drivers take it. */
interface Tls {
  rejectUnauthorized: boolean;
  verifyIdentity?: boolean;
  ca?: string;
}

/** What a parameter of a URL may be: some values, or any. */
type Allowed = Readonly<Record<string, readonly string[] | "any">>;

/** The parameters of a URL that `pg` honors. Others it would ignore, those of TLS too. */
const POSTGRES: Allowed = {
  user: "any",
  password: "any",
  host: "any",
  port: "any",
  application_name: "any",
  fallback_application_name: "any",
  client_encoding: "any",
  options: "any",
  statement_timeout: "any",
  lock_timeout: "any",
  idle_in_transaction_session_timeout: "any",
  sslmode: ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"],
  sslrootcert: "any",
  sslcert: "any",
  sslkey: "any",
  sslnegotiation: ["postgres", "direct"],
  uselibpqcompat: ["true", "false"],
  ssl: ["true", "1", "0"],
  channel_binding: ["disable", "prefer"],
};

/** The values of `ssl-mode`, as the client of MySQL names them, that can be honored. */
const MODES: Readonly<Record<string, Tls | undefined>> = {
  DISABLED: undefined,
  REQUIRED: { rejectUnauthorized: false },
  VERIFY_CA: { rejectUnauthorized: true },
  VERIFY_IDENTITY: { rejectUnauthorized: true, verifyIdentity: true },
};

/** The parameters of a URL that are handed on to `mysql2`. */
const MYSQL: Allowed = {
  charset: "any",
  compress: "any",
  enableCleartextPlugin: "any",
  socketPath: "any",
  ssl: "any",
  timezone: "any",
};

/** The parameters of a URL of MySQL that are read here. */
const OWN = ["user", "password", "ssl-mode", "ssl-ca"] as const;

/** @throws RangeError that names the parameter which would be ignored, or its value */
export function requirePostgresParameters(url: string): void {
  requireAllowed(new URL(url).searchParams, POSTGRES);
}

/**
 * The settings of TLS that a URL of MySQL asks for, and the URL without them: the driver does not know the names of the
 * server's own client.
 *
 * @throws RangeError that names the parameter which would be ignored, or its value
 */
export function mysqlParameters(given: string): { readonly uri: string; readonly ssl?: Tls } {
  const url = new URL(given);
  const own = takeOwn(url.searchParams);
  requireAllowed(url.searchParams, MYSQL, OWN);
  if (own["ssl-mode"] !== undefined && url.searchParams.has("ssl"))
    throw new RangeError("--url has ssl and ssl-mode: leave one out");
  if (own.user !== undefined && url.username === "") url.username = own.user;
  if (own.password !== undefined && url.password === "") url.password = own.password;
  const ssl = tlsOf(url, own);
  return { uri: url.href, ...(ssl && { ssl }) };
}

type OwnParameters = Partial<Record<(typeof OWN)[number], string>>;

function takeOwn(params: URLSearchParams): OwnParameters {
  const own: OwnParameters = {};
  for (const name of OWN) {
    const [value, ...more] = params.getAll(name);
    if (more.length > 0) throw twice(name);
    if (value !== undefined) own[name] = value;
    params.delete(name);
  }
  return own;
}

/** As for the client of MySQL, a certificate alone asks for its verification. */
function tlsOf(url: URL, { "ssl-mode": mode, "ssl-ca": ca }: OwnParameters): Tls | undefined {
  const name = (mode ?? (ca === undefined ? "DISABLED" : "VERIFY_CA")).toUpperCase();
  if (!Object.hasOwn(MODES, name)) throw refused("ssl-mode", Object.keys(MODES), mode ?? "");
  const tls = MODES[name];
  if (tls === undefined) return undefined;
  if (tls.verifyIdentity && isIP(url.hostname.replace(/^\[|\]$/g, "")) > 0)
    throw new RangeError(
      "ssl-mode=VERIFY_IDENTITY needs the name of a host in --url: the driver does not verify an address",
    );
  return ca === undefined ? { ...tls } : { ...tls, ca: readText(ca) };
}

function requireAllowed(
  params: URLSearchParams,
  allowed: Allowed,
  more: readonly string[] = [],
): void {
  for (const [name, value] of params) {
    if (params.getAll(name).length > 1) throw twice(name);
    const values = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
    if (values === undefined)
      throw new RangeError(
        `--url has the parameter ${name}, which would have no effect; it may have ${[...Object.keys(allowed), ...more].join(", ")}`,
      );
    if (values !== "any" && !values.includes(value)) throw refused(name, values, value);
  }
}

function twice(name: string): RangeError {
  return new RangeError(`--url must have the parameter ${name} once`);
}

function refused(name: string, values: readonly string[], value: string): RangeError {
  return new RangeError(
    `${name} of --url must be one of ${values.join(", ")}, got ${value === "" ? "nothing" : value}`,
  );
}
