import type { Clock } from "@holdfast/clock";
import type { Metric, MetricSink, Sample } from "@holdfast/kit";
import { withTimeout } from "@holdfast/wait";
import { BACKLOG_LIMIT, type Backlog, type OutboxStore } from "../store/outbox-store.ts";

/** What each scrape reads, and for how long. */
export interface StoreReading {
  readonly store: Pick<
    OutboxStore<never>,
    "backlog" | "nextDue" | "oldest" | "pausedTopics" | "restriction"
  >;
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

/** Adds the gauges that each scrape reads from the store, all from one reading. */
export function storeGauges(sink: MetricSink, options: StoreReading): void {
  let reading: Promise<Reading | undefined> | undefined;
  const read = async (): Promise<Reading | undefined> => {
    reading ??= readingOf(options).finally(() => {
      reading = undefined;
    });
    return await reading;
  };
  /** A gauge without a sample while the store is away. */
  const gauge = (metric: Metric<never>, measure: (found: Reading) => number): void =>
    sink.gauge<never>({
      ...metric,
      read: async () => {
        const found = await read();
        return found === undefined ? [] : [[{}, measure(found)]];
      },
    });
  sink.gauge({
    labelNames: ["status"],
    name: "outbox_messages",
    help: `Messages that are pending, retrying or dead, by status; ${BACKLOG_LIMIT} stands for as many or more`,
    read: async () =>
      Object.entries((await read())?.backlog ?? {}).map(
        ([status, count]): Sample<"status"> => [{ status }, count],
      ),
  });
  gauge(
    {
      name: "outbox_oldest_due_age_seconds",
      help: "Seconds that the oldest due message has waited, 0 if none is due",
    },
    ({ dueAge }) => dueAge,
  );
  if (options.store.oldest !== undefined)
    gauge(
      {
        name: "outbox_oldest_age_seconds",
        help: "Seconds since the oldest message that is neither delivered nor dead was saved, 0 without one",
      },
      ({ age }) => age,
    );
  sink.gauge<never>({
    name: "outbox_store_up",
    help: "Whether the store responded to this scrape: 1 or 0",
    read: async () => [[{}, (await read()) === undefined ? 0 : 1]],
  });
  if (options.store.restriction === undefined) return;
  gauge(
    {
      name: "outbox_restricted",
      help: "Whether row level security may hide messages from this store: 1 or 0",
    },
    ({ isRestricted }) => Number(isRestricted),
  );
}

/** Undefined if the store fails, or does not respond in time. */
async function readingOf({
  store,
  storeTimeout,
  clock,
}: StoreReading): Promise<Reading | undefined> {
  const query = async (signal: AbortSignal): Promise<Reading> => {
    const exceptTopics = (await store.pausedTopics?.(signal)) ?? [];
    const [{ pending, retrying, dead }, due, oldest, restriction] = await Promise.all([
      store.backlog(signal),
      store.nextDue(signal, { exceptTopics }),
      store.oldest?.(signal),
      store.restriction?.(signal),
    ]);
    const now = clock.now();
    const since = (instant: number = now): number => Math.max(0, now - instant) / 1_000;
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
