import { withTimeout } from "@holdfast/wait";
import { loop } from "@holdfast/wait/internal";
import { report } from "../task/outbox-event.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** From the end of one measurement to the next, in milliseconds. */
const PERIOD = 60_000;

/**
 * Measures and reports how far the wall clock of this process is ahead of the database's, until the signal aborts.
 * Messages that a process saves or postpones are due by its own clock.
 */
export async function watchClock(
  options: ResolvedRelayOptions,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, storeTimeout, clockSkew } = options;
  if (store.now === undefined) return;
  const measure = async (): Promise<void> => {
    const began = clock.monotonic();
    const asked = clock.now();
    const theirs = await withTimeout((own) => store.now?.(own), storeTimeout, {
      clock,
      signal,
      label: "clock",
    });
    if (theirs === undefined) return;
    // The response may be older or younger than this by half of the round trip.
    const half = (clock.monotonic() - began) / 2;
    const ahead = asked + half - theirs;
    const isTolerated = Math.abs(ahead) <= clockSkew + half;
    report({ type: "clock", ahead: Math.round(ahead), isTolerated }, options);
  };
  const onError = (error: unknown): void => report({ type: "error", error }, options);
  await loop({ run: measure, delay: () => PERIOD, signal, clock, onError });
}
