import type { Fields } from "./trace.ts";

/**
 * The names of the options that are rejected as they should be: each is tried alone, and what is
 * thrown must be a RangeError that begins with its name.
 *
 * @param options - values out of range
 * @param use - hands one of them over, everything else being in order
 */
export function rejections(
  options: Readonly<Record<string, number>>,
  use: (option: Readonly<Record<string, number>>) => unknown,
): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const error = thrownBy(() => use({ [name]: value }));
    return namedBy(error) === name ? name : [];
  });
}

/** The same of a function that returns a promise, which has to reject. */
export async function promiseRejections(
  options: Readonly<Record<string, number>>,
  use: (option: Readonly<Record<string, number>>) => Promise<unknown>,
): Promise<string[]> {
  const names: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    const error = await use({ [name]: value }).catch((reason: unknown) => reason);
    if (namedBy(error) === name) names.push(name);
  }
  return names;
}

/** The argument or option that a RangeError complains about. */
export function namedBy(error: unknown): string | undefined {
  return error instanceof RangeError
    ? /^(?:options\.)?(?:backoff\.)?(\w+) must /.exec(error.message)?.[1]
    : undefined;
}

/**
 * What rule `rejected-at-the-door` makes of a trace.
 *
 * @param rejected - the names of the options that are rejected
 * @param rest - what is left to compare, if anything
 */
export function withRejected(rejected: readonly string[], rest: Fields): Fields {
  return rejected.length === 0 ? rest : { ...rest, rejected };
}

function thrownBy(call: () => unknown): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The entries that no option of Holdfast takes: durations, factors and counts are all from 0 on. */
export function outOfRange(options: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(options).filter(
      ([, value]) => !(value >= 0 && value < Number.POSITIVE_INFINITY),
    ),
  );
}
