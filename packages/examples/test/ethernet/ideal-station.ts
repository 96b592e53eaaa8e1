import type { Random } from "@holdfast/wait";
import type { Network } from "../../src/ethernet/station.ts";

/** What a station of Metcalfe and Boggs knows, and no real one does. */
export interface Ideal extends Network {
  readonly stations: number;
  readonly slot: number;
  readonly random: Random;
}

/** A station as the formula assumes it: in each slot of silence it sends with the chance 1/`stations`. */
export async function idealStation(id: number, network: Ideal): Promise<never> {
  const { clock, channel, tally, signal, stations, slot, random } = network;
  for (;;) {
    if (channel.isHeard) await channel.silence();
    if (random() >= 1 / stations) await clock.sleep(slot, { signal });
    else if ((await channel.send()) === "delivered") tally.deliver(id);
  }
}
