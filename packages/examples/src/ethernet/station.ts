import type { Clock } from "@holdfast/clock";
import type { BackoffStrategy } from "@holdfast/wait";
import { isExcessiveCollisionsError } from "@holdfast/wait/strategies";
import type { Channel } from "./channel.ts";
import type { Tally } from "./tally.ts";

/** Options shared by all stations of a network. */
export interface Network {
  readonly clock: Clock;
  readonly channel: Channel;
  readonly backoff: BackoffStrategy;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** A station that always has a frame to send, until the signal aborts. */
export async function station(id: number, network: Network): Promise<void> {
  const { tally, signal } = network;
  for (;;) {
    tally.offered++;
    try {
      await deliver(network);
      tally.deliver(id);
    } catch (error) {
      if (signal.aborted && error === signal.reason) return;
      if (!isExcessiveCollisionsError(error)) throw error;
      tally.dropped++;
    }
  }
}

/** Sends one frame: carrier sense, collision detection, backoff. A station that detects silence starts at once. */
async function deliver({ clock, channel, backoff, tally, signal }: Network): Promise<void> {
  const next = backoff.delayFunc(); // throws instead of returning a 16th delay
  for (;;) {
    if (channel.isHeard) await channel.silence();
    if ((await channel.send()) === "delivered") return;
    tally.collisions++;
    await clock.sleep(next(), { signal });
  }
}
