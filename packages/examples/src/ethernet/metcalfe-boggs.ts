import type { Medium } from "./medium.ts";

/**
 * The share of the time in which frames get through, if each of `stations` sends in each slot of a
 * contention with the chance 1/`stations`, which is the best there is.
 *
 * ```text
 * A = (1 - 1/Q)^(Q - 1)        one of Q stations acquires the wire in a slot
 * W = (1 - A) / A              slots of contention before that, on average
 * E = frame / (frame + W × slot)
 * ```
 *
 * With ever more stations A goes to 1/e and W to e - 1.
 *
 * Source: Metcalfe and Boggs, "Ethernet: Distributed Packet Switching for Local Computer Networks",
 * Communications of the ACM 19(7), 1976, section 6.
 */
export function efficiency(stations: number, { frame, slot }: Medium): number {
  const acquired = (1 - 1 / stations) ** (stations - 1);
  const contention = (1 - acquired) / acquired;
  return frame / (frame + contention * slot);
}
