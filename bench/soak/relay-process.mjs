// The relay, with a receiver that remembers each number.
import { PostgresOutbox } from "@holdfast/outbox/postgres";
import pg from "pg";
import { answering } from "./program.mjs";

const { POSTGRES, COUNT, KEYS } = process.env;
/** How often each number has come; with room for those that are saved meanwhile. */
const received = new Uint8Array(Number(COUNT) + 10_000_000);
const lastOfKey = new Int32Array(Number(KEYS)).fill(-1);
const counts = { sent: 0, "sent twice": 0, "out of order": 0 };

const publisher = {
  async publish() {}, // a relay prefers the other one
  async publishMany(messages) {
    for (const { key, payload } of messages) {
      const { number } = payload;
      if (++received[number] > 1) counts["sent twice"]++;
      if (number <= lastOfKey[key]) counts["out of order"]++;
      lastOfKey[key] = number;
      counts.sent++;
    }
    return messages.map(() => ({ status: "fulfilled" }));
  },
};

const stop = new AbortController();
const pool = new pg.Pool({ connectionString: POSTGRES, max: 20, connectionTimeoutMillis: 5_000 });
const outbox = new PostgresOutbox({
  ...{ name: "soak", pool, publisher, order: "key", keepDelivered: 60_000 },
});
const running = outbox.run(stop.signal);

answering({
  tell: () => counts,
  async stop() {
    stop.abort();
    await running;
  },
  /** Each number was sent, or waits, and never both. */
  verify({ ranges, saved }) {
    const waits = new Uint8Array(saved);
    for (const { first, last } of ranges) waits.fill(1, first, last + 1);
    const result = { ...counts, lost: 0, "sent, and wait": 0 };
    for (let i = 0; i < saved; i++) {
      if (received[i] && waits[i]) result["sent, and wait"]++;
      if (!received[i] && !waits[i]) result.lost++;
    }
    return result;
  },
});
