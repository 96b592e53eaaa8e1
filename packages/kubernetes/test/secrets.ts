import { inspect } from "node:util";
import type { Logger } from "@holdfast/controller";
import { expect } from "vitest";

/** The token of every test that has one. */
export const TOKEN = "marker-token-7f3a9c";

/** The data of every Secret in tests, as text. */
export const SECRET = "marker-secret-41d8be";

/** The data of every Secret in tests, as it is in JSON. */
export const SECRET_DATA: string = Buffer.from(SECRET).toString("base64");

/** What must not be seen: both as they are, as base64 and as a dump of bytes. */
const HIDDEN = [TOKEN, SECRET].flatMap((text) => {
  const bytes = Buffer.from(text);
  return [
    text,
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("hex").match(/../g)?.join(" "),
  ];
});

/**
 * Fails if a value shows the token or data of a Secret in any way that a program would show it: as text, as
 * JSON, or printed to any depth.
 */
export function expectNoSecret(value: unknown): void {
  expect(secretsIn(value), `secrets in ${String(value).slice(0, 200)}`).toEqual([]);
}

/** What {@link searchForSecrets} has found in this test. secrets.setup.ts fails the test if it is not empty. */
export const leaks: string[] = [];

/** As {@link expectNoSecret}, for values that pass through code which drops errors, as that of a logger. */
export function searchForSecrets(value: unknown): void {
  const found = secretsIn(value);
  if (found.length > 0) leaks.push(`${found} in ${String(value).slice(0, 200)}`);
}

/** The secrets that a value shows. */
function secretsIn(value: unknown): readonly (string | undefined)[] {
  const shown = [String(value), inspect(value, { depth: Number.POSITIVE_INFINITY }), jsonOf(value)];
  for (const error of chainOf(value)) shown.push(error.message, error.stack ?? "");
  return HIDDEN.filter((hidden) => shown.some((text) => text.includes(hidden ?? "")));
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return ""; // an object that no logger could print as JSON
  }
}

function chainOf(value: unknown): Error[] {
  const chain: Error[] = [];
  let link = value;
  while (link instanceof Error && !chain.includes(link)) {
    chain.push(link);
    link = link.cause;
  }
  return chain;
}

/** A logger that keeps its lines, none of which may show a secret. */
export function quietLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const log =
    (level: string) =>
    (details: object, message: string): void => {
      // Loggers are called by code that drops their errors.
      searchForSecrets(details);
      searchForSecrets(message);
      lines.push(
        `${level}: ${message} ${inspect(details, { breakLength: Number.POSITIVE_INFINITY })}`,
      );
    };
  return { lines, debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

/** The error of a promise, which must be rejected and show no secret. */
export async function safeErrorOf(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    (value: unknown) => {
      throw new Error(`expected a rejection, got ${typeof value}`);
    },
    (caught: unknown) => caught as Error,
  );
  expectNoSecret(error);
  return error;
}
