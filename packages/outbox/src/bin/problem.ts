import { problemOf } from "@holdfast/kit/node";
import { safeText } from "./text.ts";

/** The problem of a statement that has taken longer than it may. */
export const TOO_LONG =
  "a statement took longer than --timeout allows: raise it, or look for what holds a lock";

/** The errors of such a statement: of `pg`, MySQL, MariaDB, and of waits for a lock. */
const LIMITS: readonly unknown[] = ["Query read timeout", 3024, 1969, 1205];

/** No such table, in PostgreSQL and MySQL. */
const NO_TABLE: readonly unknown[] = ["42P01", "ER_NO_SUCH_TABLE"];

/**
 * An error in one line, without the passwords in some texts: drivers, and the parser of arguments, may repeat what they
 * were given.
 *
 * @param given - URLs, and texts that were meant to be some
 */
export function problemText(error: unknown, given: readonly (string | undefined)[]): string {
  const { code, errno, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (LIMITS.includes(errno) || LIMITS.includes(message)) return TOO_LONG;
  if (NO_TABLE.includes(code))
    return "there are no tables of this outbox: run npx @holdfast/outbox migrate, or name their --prefix";
  const secrets = given.flatMap((text = "") => secretsIn(text));
  const shown = secrets.reduce((text, secret) => text.replaceAll(secret, "***"), problemOf(error));
  return safeText(shown);
}

/** Passwords in a URL, or in a text that was meant to be one, each in all its spellings. */
function secretsIn(text: string): RegExp[] {
  const [, user = ""] = /^(?:--url=)?(?:[a-z]+:\/+)?(.*)@/s.exec(text) ?? [];
  const named = [...text.matchAll(/[?&][a-z]*password=([^&#]*)/gi)].map(([, value = ""]) => value);
  return [user, user.slice(user.indexOf(":") + 1), ...named]
    .filter((secret) => secret !== "")
    .flatMap((secret) => [secret, decoded(secret), encodeURIComponent(secret)])
    .map(asWord);
}

/** A short password is a part of many words. */
function asWord(text: string): RegExp {
  const [before, after] = [/^\w/.test(text) ? "(?<!\\w)" : "", /\w$/.test(text) ? "(?!\\w)" : ""];
  return new RegExp(`${before}${text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}${after}`, "g");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
