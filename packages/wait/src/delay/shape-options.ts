import { requireOptions } from "@holdfast/clock/internal";

/**
 * Checks the options of a strategy. A strategy in their place would pass as options that set nothing but
 * `duration`: its factor, cap and jitter are private.
 *
 * @throws TypeError if `options` is no object, or is a strategy itself
 */
export function requireShapeOptions(name: string, options: object): void {
  requireOptions(name, options);
  if ("delayFunc" in options) throw new TypeError(`${name} must be plain options, got a strategy`);
}
