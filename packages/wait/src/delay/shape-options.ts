import { type Kinds, read, requireOptions } from "@holdfast/kit";

/**
 * Reads and checks the options of a strategy. A strategy in their place would pass as options that set nothing but
 * `duration`: its factor, cap and jitter are private.
 *
 * @param door - the class or function that has the options, for the error
 * @param kinds - the kind of each of them
 * @throws TypeError if `options` is no object, has an unknown option, or is a strategy itself
 */
export function readShape<Options extends object>(
  name: string,
  options: Options,
  door: string,
  kinds: Kinds<NoInfer<Options>>,
): Options {
  requireOptions(name, options);
  if ("delayFunc" in options) throw new TypeError(`${name} must be plain options, got a strategy`);
  return read(name, options, door, kinds);
}
