import { requireBetween, requireText, requireWhole } from "@holdfast/kit";

/** Most slots of a program. */
const MAX_SLOTS = 1_024;

const utf8 = new TextEncoder();

/**
 * The slot of a key: the same in every process, and even for keys that differ in their last letter alone.
 *
 * @param key - for example `namespace/name`. Not empty
 * @param count - number of slots. Whole, 1 to 1,024
 * @returns a whole number, at least 0 and below `count`
 * @throws RangeError or TypeError for a bad argument
 *
 * @remarks FNV-1a of 32 bits over the UTF-8, and the last step of MurmurHash3, without which keys with a number at
 * their end would share a few slots.
 *
 * @example
 * ```ts
 * import { slotOf } from "@holdfast/controller";
 *
 * console.log(slotOf("default/ann", 16), slotOf("default/bob", 16)); // => 15 9
 * ```
 */
export function slotOf(key: string, count: number): number {
  requireText("key", key);
  requireSlotCount("count", count);
  return Math.floor((hashOf(key) * count) / 2 ** 32);
}

/** @throws RangeError or TypeError that names the option */
export function requireSlotCount(name: string, count: number): number {
  return requireBetween(name, requireWhole(name, count, 1), 1, MAX_SLOTS);
}

/** A hash of 32 bits, unsigned. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
