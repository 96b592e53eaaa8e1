import { abortable } from "@holdfast/clock";
import { silentLogger, TokenBucketLimiter } from "@holdfast/controller";
import { deferred } from "@holdfast/kit";
import { type Message, Relay } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { TerminalError } from "@holdfast/wait";
import { describe, onTestFinished } from "vitest";
import { type Door, testGivesUp } from "../../../test/gives-up.contract.ts";
import { idOf, sample } from "./sample.ts";

/** A relay whose receiver takes one message a second. The attempt of a caller that gave up ends at once. */
const relayDoor: Door = (clock) => {
  const store = new MemoryStore();
  const limiter = new TokenBucketLimiter({ qps: 1, burst: 1, clock });
  const callers = new Map<string, { readonly signal: AbortSignal; readonly done: () => void }>();
  const publish = async ({ id }: Message, limit: AbortSignal): Promise<void> => {
    const caller = callers.get(id);
    if (caller === undefined) throw new TerminalError("its caller gave up");
    await limiter.acquire(AbortSignal.any([limit, caller.signal])).catch((cause: unknown) => {
      throw new TerminalError("its caller gave up", { cause });
    });
    caller.done();
  };
  const relay = new Relay({
    name: "relay",
    store,
    publisher: { publish },
    workers: 50,
    clock,
    logger: silentLogger,
  });
  const stop = new AbortController();
  void relay.run(stop.signal);
  onTestFinished(() => stop.abort());
  let messages = 0;
  return async (signal) => {
    const id = idOf(++messages);
    const { promise, resolve: done } = deferred<void>();
    callers.set(id, { signal, done });
    await store.transaction((tx) => store.save(tx, sample(messages), clock.now()));
    relay.wake();
    await abortable(() => promise, signal).finally(() => callers.delete(id));
  };
};

describe("a message that its caller gave up costs no other message anything", () => {
  testGivesUp({ Relay: relayDoor });
});
