import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { Outbox, Relay } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";
import { FakePublisher } from "./fake-publisher.ts";
import { idOf, numberOf, sample } from "./sample.ts";

// A month of retries, attempt by attempt, against the formula of the schedule. The relays are replaced
// every other day. How long it takes is printed by `npm run sim`, not asserted: the machine may be busy.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;

const MESSAGES = inject("isThorough") ? 500 : 150;

/** What is to become of a message. */
interface Plan {
  readonly savedAt: number;
  readonly duration: number;
  readonly factor: number;
  readonly cap: number;
  readonly maxAttempts: number;
  /** How many attempts fail before one succeeds. */
  readonly failures: number;
  /** How long each attempt takes. */
  readonly takes: number;
}

const planOf = (random: Random): Plan => {
  const pick = (choices: readonly number[]): number =>
    choices[Math.floor(random() * choices.length)] ?? 0;
  return {
    savedAt: Math.floor(random() * MONTH),
    duration: pick([SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, HOUR]),
    factor: pick([1, 1.5, 2, 3]),
    cap: pick([HOUR, 6 * HOUR, Number.POSITIVE_INFINITY]),
    maxAttempts: 1 + Math.floor(random() * 12),
    failures: Math.floor(random() * 14),
    takes: Math.floor(random() * 3 * SECOND),
  };
};

/** When it is tried: at once, and then `duration × factor^(n − 1)`, at most `cap`, after the end of the n-th failure. */
function instantsOf({ savedAt, takes, duration, factor, cap, ...plan }: Plan): number[] {
  const instants = [savedAt];
  const attempts = Math.min(plan.failures + 1, plan.maxAttempts);
  for (let failed = 1; failed < attempts; failed++) {
    const ended = (instants.at(-1) ?? 0) + takes;
    instants.push(ended + Math.ceil(Math.min(duration * factor ** (failed - 1), cap)));
  }
  return instants.filter((instant) => instant < MONTH);
}

it(`tries each of ${MESSAGES} messages for a month at the exact milliseconds of its schedule`, {
  timeout: 300_000,
}, async () => {
  const seed = inject("simSeed");
  const random = seededRandom(seed);
  const plans = Array.from({ length: MESSAGES }, () => planOf(random));
  const clock = new FakeClock();
  const store = new MemoryStore();
  const tries = new Map<number, number>();
  const publisher = new FakePublisher(clock, async ({ id }) => {
    const number = numberOf(id);
    const { takes = 0, failures = 0 } = plans[number] ?? {};
    tries.set(number, (tries.get(number) ?? 0) + 1);
    await clock.sleep(takes);
    if ((tries.get(number) ?? 0) <= failures) throw new Error("unreachable");
  });

  const running: Promise<void>[] = [];
  let relay: Relay;
  let stop = new AbortController();
  const replaceRelay = (): void => {
    const last = stop;
    stop = new AbortController();
    const name = `relay-${running.length}`;
    const options = { workers: 50, jitter: 0, pollInterval: HOUR, logger: silentLogger };
    relay = new Relay({ name, store, publisher, clock, ...options });
    running.push(relay.run(stop.signal));
    last.abort();
  };
  const outbox = new Outbox({
    store,
    transaction: (work) => store.transaction(work),
    onCommitted: () => relay.wake(),
    clock,
  });

  const began = performance.now();
  replaceRelay();
  for (const [
    number,
    { savedAt, maxAttempts, takes: _, failures: __, ...backoff },
  ] of plans.entries())
    clock.afterFunc(savedAt, () => {
      void outbox.transaction((tx) => outbox.save(tx, sample(number, { maxAttempts, backoff })));
    });
  for (let day = 0; day < 30; day += 2) {
    await clock.step(2 * DAY, { turns: 0 });
    replaceRelay();
  }
  stop.abort();
  await clock.run(() => Promise.all(running), { turns: 0 });
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);

  const actual = new Map(plans.map((_, number) => [number, [] as number[]]));
  for (const [instant, number] of publisher.sent)
    if (instant < MONTH) actual.get(number)?.push(instant);
  expect(actual).toEqual(new Map(plans.map((plan, number) => [number, instantsOf(plan)])));
  for (const [number, { failures, maxAttempts, ...plan }] of plans.entries()) {
    const attempts = instantsOf({ failures, maxAttempts, ...plan });
    if ((attempts.at(-1) ?? 0) + plan.takes >= MONTH) continue;
    const isDead = failures >= maxAttempts && attempts.length === maxAttempts;
    const isSent = attempts.length === failures + 1;
    const status = isDead ? "dead" : isSent ? "delivered" : "retrying";
    expect((await store.find(idOf(number)))?.status, `${number}`).toBe(status);
  }
  if (inject("isThorough"))
    console.log(`A month, seed ${seed}, in ${seconds} s: ${publisher.sent.length} attempts`);
});
