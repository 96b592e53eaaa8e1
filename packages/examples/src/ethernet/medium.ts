/** The parameters of a shared wire. Durations are in milliseconds. */
export interface Medium {
  /** The time a frame takes to send; at least a slot, or a collision could go unnoticed. */
  readonly frame: number;
  /** The longest time between a start and the knowledge that it collided: there and back. */
  readonly slot: number;
  /** The time from one station to another. */
  readonly propagation: number;
}

const BITS_PER_MILLISECOND = 10_000;
const BITS_PER_SLOT = 512;

/**
 * Ethernet at 10 Mbit/s with the longest cable that IEEE 802.3 allows: a slot is 512 bit times, and
 * two stations are half a slot apart. Preamble and gap between frames are left out, as they are in
 * the formula that the simulation is compared with.
 *
 * @param bytes - the length of every frame, from 64 to 1,518
 */
export function ethernet(bytes: number): Medium {
  const slot = BITS_PER_SLOT / BITS_PER_MILLISECOND;
  return { frame: (bytes * 8) / BITS_PER_MILLISECOND, slot, propagation: slot / 2 };
}
