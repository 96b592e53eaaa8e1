import { FakeClock } from "@holdfast/clock/testing";
import type { NewMessage } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { printedBy, type Run } from "../../../../test/printed.ts";
import type { Io } from "../../src/bin/command.ts";
import type { Connection } from "../../src/bin/connect.ts";
import { runCommand } from "../../src/bin/run-command.ts";

/** A command line on a store in memory, 7 hours after the epoch. */
export class CommandWorld {
  readonly clock = new FakeClock({ now: 25_200_000 });
  readonly store = new MemoryStore();
  /** The databases that are open. */
  open = 0;

  /** Saves messages, and lets the first attempt of each end. */
  async die(messages: readonly NewMessage[], error = "HTTP 500"): Promise<void> {
    const now = this.clock.now();
    await this.store.transaction(async (tx) => {
      for (const message of messages) await this.store.save(tx, message, now);
    });
    const request = { relay: "r", now, until: now + 1, limit: messages.length };
    const { claims } = await this.store.claim(request);
    const failure = { now, error, dueAt: undefined };
    await this.store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
  }

  connection(more: Partial<Connection> = {}): Connection {
    this.open++;
    return {
      name: "memory",
      store: this.store,
      migrate: async () => [1],
      pending: async () => ["CREATE TABLE t (n integer)"],
      [Symbol.asyncDispose]: async () => {
        this.open--;
      },
      ...more,
    };
  }

  async run(args: readonly string[], more: Partial<Io> = {}): Promise<Run> {
    return await printedBy((output) =>
      runCommand(args, {
        ...output,
        env: { DATABASE_URL: "memory" },
        confirm: undefined,
        connect: async () => this.connection(),
        clock: this.clock,
        signal: new AbortController().signal,
        ...more,
      }),
    );
  }
}

/** The `n`-th message: its id ends with that number. */
export function message(n: number, more: Partial<NewMessage> = {}): NewMessage {
  const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  return { id, topic: "orders", key: `order/${n}`, payload: { n }, ...more };
}
