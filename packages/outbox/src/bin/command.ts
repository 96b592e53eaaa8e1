import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Clock } from "@holdfast/clock";
import type { Output, Command as RunnableCommand } from "@holdfast/kit/node";
import type { Connect, Connection } from "./connect.ts";

/** Where a command reads and writes. */
export interface Io extends Output {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asks for a yes; undefined without a terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
  readonly connect: Connect;
  readonly clock: Clock;
  /** Ends a command that would run on. */
  readonly signal: AbortSignal;
}

/**
 * A command: its arguments to its exit code. It throws if the arguments are wrong, or the database cannot be used.
 *
 * | Code | |
 * | --- | --- |
 * | 0 | done |
 * | 1 | a message that was named is no dead letter, a topic is not paused, or the answer was no |
 */
export type Command = RunnableCommand<Io>;

const COMMON = {
  url: { type: "string" },
  prefix: { type: "string", default: "outbox_" },
  schema: { type: "string" },
  json: { type: "boolean", default: false },
  timeout: { type: "string", default: "60" },
} as const;

/** The values of the options that every command has. */
interface Common {
  readonly url?: string | undefined;
  readonly prefix: string;
  readonly schema?: string | undefined;
  readonly json: boolean;
  /** In seconds. */
  readonly timeout: string;
}

/** What a command was given. */
export interface Given<Values> {
  readonly values: Values;
  readonly positionals: readonly string[];
}

/** Values of options: texts, and those that are there or not. */
export type OwnOptions = Readonly<Record<string, { readonly type: "string" | "boolean" }>>;

/** The values of some options, with those that every command has. */
export type ValuesOf<Own extends OwnOptions> = Common & {
  readonly [Name in keyof Own]?: Own[Name]["type"] extends "string" ? string : boolean;
};

/** @throws TypeError of `parseArgs` that names the argument which the command does not have */
export function read<Own extends OwnOptions>(
  args: string[],
  own: Own,
  allowPositionals = false,
): Given<ValuesOf<Own>> {
  const options: NonNullable<ParseArgsConfig["options"]> = { ...COMMON, ...own };
  const { values, positionals } = parseArgs({ args, allowPositionals, options });
  return { values: values as unknown as ValuesOf<Own>, positionals };
}

/** Connects to the database of the options, or of the environment. Notes if it may hide messages. */
export async function connected(
  io: Io,
  { url, prefix, schema, timeout }: Common,
): Promise<Connection> {
  const seconds = wholeNumber("--timeout", timeout, { most: 86_400 });
  const target = url ?? io.env["DATABASE_URL"] ?? "";
  if (target === "")
    throw new RangeError("--url URL is missing, and DATABASE_URL is not set; see --help");
  const connection = await io.connect(target, prefix, seconds * 1_000, schema);
  try {
    const reason = await connection.store.restriction?.();
    if (reason !== undefined) io.note(`warning: ${reason}`);
    return connection;
  } catch (error) {
    await connection[Symbol.asyncDispose]();
    throw error;
  }
}

/** @throws RangeError that names the option, if the text is no whole number in the range */
export function wholeNumber(
  name: string,
  text: string,
  { least = 1, most = 999_999_999 }: { readonly least?: number; readonly most?: number } = {},
): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= least && value <= most) return value;
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}, got ${text}`);
}
