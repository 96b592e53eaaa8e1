import type { Clock } from "@holdfast/clock";
import { withTimeout } from "@holdfast/wait";
import { Gauge, type Registry } from "prom-client";
import { BACKLOG_LIMIT, type Backlog, type OutboxStore } from "../store/outbox-store.ts";

/** Options for {@link storeGauges}. */
export interface StoreGaugesOptions {
  readonly store: Pick<
    OutboxStore<never>,
    "backlog" | "nextDue" | "oldest" | "pausedTopics" | "restriction"
  >;
  readonly register: Registry;
  readonly storeTimeout: number;
  readonly clock: Clock;
}

/** The values of one scrape. */
interface Reading {
  readonly backlog: Backlog;
  /** How long the oldest due message has waited, and how long ago the oldest one was saved, in seconds. */
  readonly dueAge: number;
  readonly age: number;
  readonly isRestricted: boolean;
}

/** Registers the gauges that each scrape reads from the store, all from one reading. */
export function storeGauges({ register, ...options }: StoreGaugesOptions): void {
  const registers = [register];
  let reading: Promise<Reading | undefined> | undefined;
  const read = async (): Promise<Reading | undefined> => {
    reading ??= readingOf(options).finally(() => {
      reading = undefined;
    });
    return await reading;
  };
  new Gauge({
    registers,
    labelNames: ["status"],
    name: "outbox_messages",
    help: `Messages that are pending, retrying or dead, by status; ${BACKLOG_LIMIT} stands for as many or more`,
    async collect() {
      const found = await read();
      this.reset();
      for (const [status, count] of Object.entries(found?.backlog ?? {}))
        this.set({ status }, count);
    },
  });
  new Gauge({
    registers,
    name: "outbox_oldest_due_age_seconds",
    help: "Seconds that the oldest due message has waited, 0 if none is due",
    async collect() {
      const found = await read();
      if (found === undefined) this.remove();
      else this.set(found.dueAge);
    },
  });
  if (options.store.oldest !== undefined)
    new Gauge({
      registers,
      name: "outbox_oldest_age_seconds",
      help: "Seconds since the oldest message that is neither delivered nor dead was saved, 0 without one",
      async collect() {
        const found = await read();
        if (found === undefined) this.remove();
        else this.set(found.age);
      },
    });
  new Gauge({
    registers,
    name: "outbox_store_up",
    help: "Whether the store responded to this scrape: 1 or 0",
    async collect() {
      this.set((await read()) === undefined ? 0 : 1);
    },
  });
  if (options.store.restriction === undefined) return;
  new Gauge({
    registers,
    name: "outbox_restricted",
    help: "Whether row level security may hide messages from this store: 1 or 0",
    async collect() {
      const found = await read();
      if (found === undefined) this.remove();
      else this.set(Number(found.isRestricted));
    },
  });
}

/** Undefined if the store fails, or does not respond in time. */
async function readingOf({
  store,
  storeTimeout,
  clock,
}: Omit<StoreGaugesOptions, "register">): Promise<Reading | undefined> {
  const query = async (signal: AbortSignal): Promise<Reading> => {
    const exceptTopics = (await store.pausedTopics?.(signal)) ?? [];
    const [{ pending, retrying, dead }, due, oldest, restriction] = await Promise.all([
      store.backlog(signal),
      store.nextDue(signal, { exceptTopics }),
      store.oldest?.(signal),
      store.restriction?.(signal),
    ]);
    const since = (instant: number = clock.now()): number =>
      Math.max(0, clock.now() - instant) / 1_000;
    const isRestricted = restriction !== undefined;
    return {
      backlog: { pending, retrying, dead },
      dueAge: since(due),
      age: since(oldest),
      isRestricted,
    };
  };
  return await withTimeout(query, storeTimeout, { clock, label: "scrape" }).catch(() => undefined);
}
