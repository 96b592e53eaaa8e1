import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  createLimiter,
  type GoLimiter,
  limiterRejections,
  rejectedOptions,
} from "../go-limiter.ts";
import { limiterModel } from "../limiter-model.ts";
import { toMilliseconds, toNanoseconds } from "../nanoseconds.ts";
import type { QueueOp } from "../queue-case.ts";
import { withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf } from "../trace.ts";

interface LimiterCase {
  readonly id: number;
  readonly limiter: GoLimiter;
  readonly ops: readonly QueueOp[];
  readonly res: readonly { readonly d?: number | string }[];
  readonly overflow?: boolean;
}

/** Rate limiters, each asked when the backoff before is over: Go's count a failure in any case. */
export const rateLimiters: Section<LimiterCase> = {
  file: "workqueue.json",
  name: "rateLimiters",
  fields: [
    ...["id", "ops", "res", "overflow"],
    ...["kind", "base", "max", "fast", "slow", "maxFast", "qps", "burst", "of"].map(
      (field) => `limiter.${field}`,
    ),
  ],
  unseen: {},
  rules: ["rejected-at-the-door", "no-overflow", "bounded-debt"],

  recorded: ({ res }) => ({ res: res.map(fieldsOf) }),

  predict(kase, recorded, inForce) {
    const rejected = Object.keys(rejectedOptions(kase.limiter));
    if (rejected.length > 0)
      return inForce.has("rejected-at-the-door") ? withRejected(rejected, {}) : recorded;
    if (kase.overflow === true && !inForce.has("no-overflow")) return recorded;
    return { res: modelled(kase, inForce) };
  },

  replay(kase) {
    const rejected = limiterRejections(kase.limiter);
    return rejected.length > 0 ? { rejected } : { res: replayed(kase) };
  },
};

function modelled({ limiter, ops, res }: LimiterCase, inForce: ReadonlySet<string>): Fields[] {
  const model = limiterModel(limiter, inForce as Parameters<typeof limiterModel>[1]);
  let now = 0;
  return ops.map(([name, first = 0], index) => {
    const key = Number(first);
    switch (name) {
      case "step":
        now += key;
        return {};
      case "when": {
        const delay = model.when(key, now);
        const recorded = res[index]?.d;
        // Of a double above 2^53 the digits are not all there.
        const d = BigInt(Number(recorded) === delay ? (recorded ?? 0) : delay);
        return { d, n: BigInt(model.requeues(key)) };
      }
      case "forget":
        model.forget(key);
        return { n: BigInt(model.requeues(key)) };
      default:
        return { n: BigInt(model.requeues(key)) };
    }
  });
}

function replayed({ limiter: go, ops }: LimiterCase): Fields[] {
  const clock = new FakeClock();
  let asked = 0;
  const limiter = createLimiter(go, {
    perKey: leapingClock(clock),
    bucket: clock,
    // A key that waits takes no second token, so each asks once.
    bucketKey: (key) => `${key}, ${asked++}`,
  });
  return ops.map(([name, first = 0]) => {
    const key = String(first);
    switch (name) {
      case "step":
        clock.stepSync(toMilliseconds(first));
        return {};
      case "when": {
        const d = toNanoseconds(limiter.when(key));
        return { d, n: BigInt(limiter.requeues(key)) };
      }
      case "forget":
      case "numRequeues":
        if (name === "forget") limiter.forget(key);
        return { n: BigInt(limiter.requeues(key)) };
      default:
        throw new Error(`unknown operation ${name}`);
    }
  });
}

/** Longer than 2^63 ns. */
const LEAP = 1e14;

/** A clock on which every backoff is over by the time that it is looked at again. */
function leapingClock(clock: Clock): Clock {
  let now = 0;
  const monotonic = (): number => {
    now += LEAP;
    return now;
  };
  return Object.assign(Object.create(clock) as Clock, { monotonic });
}
