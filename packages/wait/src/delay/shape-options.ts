import { requireOptions } from "@holdfast/clock/internal";

/**
 * Checks the options of a strategy. A strategy in their place would pass as options that set nothing but
 * `duration`: its factor, cap and jitter are private.
 *
 * @param door - the class or function that has the options, for the error
 * @param names - its options
 * @throws TypeError if `options` is no object, has an unknown option, or is a strategy itself
 */
export function requireShapeOptions(
  name: string,
  options: object,
  door: string,
  names: Readonly<Record<string, true>>,
): void {
  requireOptions(name, options);
  if ("delayFunc" in options) throw new TypeError(`${name} must be plain options, got a strategy`);
  requireOptions(name, options, door, names);
}
