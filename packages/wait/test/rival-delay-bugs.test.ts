import { Backoff, type BackoffStrategy, backoffUntil, type Random } from "@holdfast/wait";
import { backoffManager } from "@holdfast/wait/loop";
import {
  AttemptBackoff,
  DecorrelatedJitterBackoff,
  GrpcBackoff,
  SymmetricJitterBackoff,
  seededRandom,
} from "@holdfast/wait/strategies";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { ALMOST_ONE } from "./draws.ts";
import { firstDelays } from "./first-delays.ts";
import { harnesses } from "./harness.ts";

// Bugs that users of other libraries have reported about delays.

const CAP = 5_000;
const constant = { duration: 1_000, jitter: 1, cap: CAP };
const shape = { ...constant, factor: 2 };

/** All forms whose jitter never exceeds the cap. */
const capped = Object.entries<(random: Random) => BackoffStrategy>({
  Backoff: (random) => new Backoff({ ...shape, capAfterJitter: true, random }),
  SymmetricJitterBackoff: (random) =>
    new SymmetricJitterBackoff({ ...shape, capAfterJitter: true, random }),
  GrpcBackoff: (random) => new GrpcBackoff({ ...shape, capAfterJitter: true, random }),
  "Backoff, full jitter": (random) => new Backoff({ ...shape, jitter: "full", random }),
  "Backoff, equal jitter": (random) => new Backoff({ ...shape, jitter: "equal", random }),
  DecorrelatedJitterBackoff: (random) =>
    new DecorrelatedJitterBackoff({ duration: 1_000, cap: CAP, random }),
});

describe.each(capped)("%s", (_, create) => {
  // got#2456, agenda#1748, axios-retry, node-backoff
  it("does not exceed the cap by its jitter", () => {
    const delays = firstDelays(
      20,
      create(() => ALMOST_ONE),
    );
    expect(Math.max(...delays)).toBeLessThanOrEqual(CAP);
    expect(Math.max(...delays)).toBeGreaterThan(CAP - 0.001);
  });

  // retry, async-retry, p-retry: limited after jitter, all clients at the cap return together.
  it("does not lose its jitter at the cap", () => {
    const next = create(seededRandom(4)).delayFunc();
    for (let step = 0; step < 10; step++) next();
    const later = Array.from({ length: 100 }, next);
    expect(new Set(later).size).toBeGreaterThan(20);
  });
});

// cockatiel#86: no delay at all after some 1025 attempts
it("does not become NaN when the power of its factor overflows", () => {
  const forms: Record<string, BackoffStrategy> = {
    Backoff: new Backoff({ duration: 1, factor: 2 }),
    DecorrelatedJitterBackoff: new DecorrelatedJitterBackoff({ duration: 1 }),
    AttemptBackoff: new AttemptBackoff({ cap: Number.POSITIVE_INFINITY, spread: true }),
    GrpcBackoff: new GrpcBackoff({ cap: Number.POSITIVE_INFINITY }),
  };
  for (const [name, form] of Object.entries(forms)) {
    const late = firstDelays(3_000, form).slice(1_000);
    expect([name, late.filter((delay) => !(delay >= 1))]).toEqual([name, []]);
  }
});

// node-retry#90: `maxTimeout: undefined` makes every delay NaN, which a timer treats as 1 ms.
it("does not become NaN for an option of undefined", () => {
  const absent = { factor: undefined, cap: undefined, jitter: undefined, random: undefined };
  const forms = [
    new Backoff({ duration: 100, ...absent }),
    new SymmetricJitterBackoff({ duration: 100, ...absent }),
    new GrpcBackoff({ duration: 100, ...absent }),
    new AttemptBackoff({ duration: 100, ...absent }),
  ];
  expect(forms.flatMap((form) => firstDelays(50, form)).filter(Number.isNaN)).toEqual([]);
});

// node-retry#84, p-retry#58: `retries: Infinity` fills the heap with delays before the first call.
it("does not compute delays in advance", () => {
  let drawn = 0;
  const random = () => {
    drawn++;
    return 0.5;
  };
  const next = new Backoff({ duration: 1, jitter: "full", random }).delayFunc();
  expect(drawn).toBe(0);
  next();
  expect(drawn).toBe(1);
});

// ts-retry-promise: 100, 10 000, 1 000 000: the delay to the power of the attempt
it("multiplies by the factor, not by the delay", () => {
  expect(firstDelays(4, new Backoff({ duration: 100, factor: 2 }))).toEqual([100, 200, 400, 800]);
});

// cockatiel: `exponent: 3` with full, half or no jitter still doubles.
it.each([
  { form: new Backoff({ duration: 128, factor: 3 }), delay: 3456 },
  {
    form: new Backoff({ duration: 128, factor: 3, jitter: "full", random: () => 0.5 }),
    delay: 1728,
  },
  {
    form: new Backoff({ duration: 128, factor: 3, jitter: "equal", random: () => 0.5 }),
    delay: 2592,
  },
  { form: new SymmetricJitterBackoff({ duration: 128, factor: 3, jitter: 0 }), delay: 3456 },
])("uses its factor in $form.constructor.name", ({ form, delay }) => {
  expect(firstDelays(4, form)[3]).toBe(delay);
});

// @lifeomic/attempt: `maxDelay` is ignored unless `factor` is set.
it("limits a constant delay with capAfterJitter", () => {
  const backoff = new Backoff({ duration: 900, cap: 300, capAfterJitter: true });
  expect(firstDelays(2, backoff)).toEqual([300, 300]);
});

// node-backoff: a constant delay throws, because the longest must exceed the first.
it("can be constant", () => {
  const shape = { duration: 100, factor: 1, cap: 100 };
  expect(firstDelays(3, new Backoff(shape))).toEqual([100, 100, 100]);
});

// exponential-backoff, cockatiel, retry, rxjs and six more: a timer beyond 2^31 - 1 ms fires at once.
it.each(Object.entries(harnesses))(
  "waits for delays beyond the maximum of a native timer: %s",
  async (_, harness) => {
    const { clock, step, waiters, close } = harness();
    try {
      const stop = new AbortController();
      let calls = 0;
      const month = 30 * 24 * 3_600_000;
      const manager = backoffManager(new Backoff({ duration: month, factor: 2 }), { clock });
      const loop = backoffUntil(() => void calls++, manager, true, stop.signal);
      const seen: number[] = [];
      for (const pause of [month - 1, 1, 2 * month - 1, 1]) {
        await step(pause);
        seen.push(calls);
      }
      expect(seen).toEqual([1, 2, 2, 3]);
      stop.abort();
      await loop;
      expect([waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
    } finally {
      close();
    }
  },
);
