import { MemoryLock, silentLogger } from "@holdfast/controller";
import { explore } from "@holdfast/explore";
import { Outbox, Recovery, Relay } from "@holdfast/outbox";
import { MemoryStore, type MemoryTransaction } from "@holdfast/outbox/testing";
import { expect, inject, test } from "vitest";
import { numberOf, sample } from "./sample.ts";

const SECOND = 1_000;

/** The database and the receiver. */
class Outside {
  readonly store = new MemoryStore();
  readonly lock = new MemoryLock();
  readonly received = new Set<number>();
}

const isThorough: boolean = inject("isThorough");

test.each([inject("simSeed")])(
  "a relay and its recovery deliver every message after every fault, seed %i",
  async (seed) => {
    const [worlds, pairs] = isThorough ? [1_000, 900] : [60, 20];
    const report = await explore({
      seed,
      worlds,
      pairs,
      quiet: 60 * SECOND,
      world: () => new Outside(),
      async run({ world, link, clock, random, signal, replica }) {
        const store = link(world.store, "store");
        const common = { store, clock, random, logger: silentLogger };
        const publish = link(async (id: number) => void world.received.add(id), "publish");
        const relay = new Relay({
          ...common,
          name: `relay-${replica}`,
          publisher: { publish: (message) => publish(numberOf(message.id)) },
          claimDuration: 10 * SECOND,
          publishTimeout: 3 * SECOND,
          storeTimeout: 4 * SECOND,
          pollInterval: 5 * SECOND,
        });
        const recovery = new Recovery({
          ...common,
          name: `recovery-${replica}`,
          lock: world.lock,
          leaseDuration: 20 * SECOND,
          interval: 5 * SECOND,
        });
        await Promise.all([relay.run(signal), recovery.run(signal)]);
      },
      async scenario({ world: { store }, clock }) {
        const outbox = new Outbox<MemoryTransaction>({
          store,
          transaction: (work) => store.transaction(work),
          clock,
        });
        for (const number of [1, 2, 3]) {
          await outbox.transaction((tx) => outbox.save(tx, sample(number)));
          await clock.sleep(SECOND);
        }
      },
      stateOf: ({ received }) => [...received].toSorted((a, b) => a - b),
    });
    expect(report.worlds).toBe(Math.min(worlds, report.planned) + pairs);
    expect(report.planned).toBeGreaterThan(20);
  },
);
