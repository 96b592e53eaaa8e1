import {
  type Kinds,
  kind,
  read,
  requireArray,
  required,
  requireOptions,
  requireText,
} from "@holdfast/kit";

/** The user as whom requests are made; see `impersonate` of {@link AtUrlOptions}. */
export interface Impersonation {
  /** Name of the user: for a service account, `system:serviceaccount:NAMESPACE:NAME`. */
  readonly user: string;

  /**
   * Groups of the user. The server adds `system:authenticated`, and those of a service account.
   *
   * @defaultValue none
   */
  readonly groups?: readonly string[] | undefined;

  /**
   * UID of the user.
   *
   * @defaultValue none
   */
  readonly uid?: string | undefined;

  /**
   * More facts about the user, for authorizers, by their names. Names are sent in lower case.
   *
   * @defaultValue none
   */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

const line = kind("line", requireLine);

export const IMPERSONATION: Kinds<Impersonation> = {
  user: required(line),
  groups: kind("lines", requireLines),
  uid: line,
  extra: kind("extra", requireExtra),
};

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** @throws RangeError or TypeError that names the option */
export function requireImpersonation(name: string, impersonation: Impersonation): void {
  read(name, impersonation, "atUrl", IMPERSONATION);
}

function requireExtra(name: string, extra: NonNullable<Impersonation["extra"]>): void {
  requireOptions(name, extra);
  for (const [key, values] of Object.entries(extra)) requireLines(`${name}["${key}"]`, values);
}

function requireLines(name: string, values: readonly string[]): void {
  requireArray(name, values);
  for (const [index, value] of values.entries()) requireLine(`${name}[${index}]`, value);
}

/** What a header can carry. */
function requireLine(name: string, value: string): void {
  requireText(name, value);
  if (!/^[\x20-\x7e]+$/.test(value))
    throw new RangeError(
      `${name} must be printable ASCII, got ${JSON.stringify(value.slice(0, 300))}`,
    );
}

/** The headers that make a server treat a request as that of another user. */
export function impersonationHeaders({
  user,
  groups = [],
  uid,
  extra = {},
}: Partial<Impersonation>): Headers {
  const headers: Record<string, string | readonly string[]> = {};
  if (user !== undefined) headers["impersonate-user"] = user;
  if (uid !== undefined) headers["impersonate-uid"] = uid;
  if (groups.length > 0) headers["impersonate-group"] = groups;
  for (const [key, values] of Object.entries(extra))
    if (values.length > 0) headers[`impersonate-extra-${headerKey(key)}`] = values;
  return headers;
}

/** Percent-encodes the characters that the name of a header must not have: a server decodes them. */
function headerKey(key: string): string {
  const bytes = Buffer.from(key.toLowerCase(), "utf8");
  return [...bytes]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      const isToken = /[-!#$&'*+.^_`|~0-9a-z]/.test(character);
      return isToken ? character : `%${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
}
