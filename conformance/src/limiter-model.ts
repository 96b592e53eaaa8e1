import { type GoLimiter, spelledOut } from "./go-limiter.ts";
import type { RuleSet } from "./rules.ts";

/** A limiter in whole nanoseconds that follows Go but for the rules that are in force. */
export interface LimiterModel {
  /** The delay after a failure at an instant. */
  when(key: number, now: number): number;
  forget(key: number): void;
  requeues(key: number): number;
}

/** The largest float64 that an int64 holds, and more: Go cuts off there. */
const LARGEST = 2 ** 63;

export function limiterModel(
  go: GoLimiter,
  inForce: RuleSet,
  cap: number = Number.POSITIVE_INFINITY,
): LimiterModel {
  const model = freeModel(go, inForce, cap);
  return inForce.has("counts-when-over") && go.kind !== "maxWait" ? counting(model) : model;
}

function freeModel(go: GoLimiter, inForce: RuleSet, cap: number): LimiterModel {
  const limiter = spelledOut(go);
  switch (limiter.kind) {
    case "itemExponential": {
      const most = Math.min(Number(limiter.max), cap);
      const base = Number(limiter.base);
      return perKey((failures) => {
        const delay = base === 0 ? 0 : base * 2 ** failures;
        return delay >= LARGEST ? most : Math.min(delay, most);
      });
    }
    case "itemFastSlow":
      return perKey((failures) =>
        Math.min(Number(failures < (limiter.maxFast ?? 0) ? limiter.fast : limiter.slow), cap),
      );
    case "bucket":
      return bucket(limiter, inForce, cap);
    case "maxOf": {
      const parts = (limiter.of ?? []).map((part) => limiterModel(part, inForce, cap));
      return {
        when: (key, now) => Math.max(0, ...parts.map((part) => part.when(key, now))),
        forget(key) {
          for (const part of parts) part.forget(key);
        },
        requeues: (key) => Math.max(0, ...parts.map((part) => part.requeues(key))),
      };
    }
    default:
      return cutOff(limiter, inForce, cap);
  }
}

/** `maxWait`: Go cuts off what a limiter says, Holdfast what it computes. */
function cutOff({ of = [], max }: GoLimiter, inForce: RuleSet, cap: number): LimiterModel {
  const [part] = of;
  if (part === undefined) throw new Error("a maxWait has one part");
  const most = Math.min(Number(max), cap);
  if (inForce.has("bounded-debt")) return limiterModel(part, inForce, most);
  const model = limiterModel(part, inForce);
  return { ...model, when: (key, now) => Math.min(model.when(key, now), most) };
}

function perKey(delayOf: (failures: number) => number): LimiterModel {
  const failures = new Map<number, number>();
  return {
    when(key) {
      const before = failures.get(key) ?? 0;
      failures.set(key, before + 1);
      return delayOf(before);
    },
    forget: (key) => void failures.delete(key),
    requeues: (key) => failures.get(key) ?? 0,
  };
}

function bucket({ qps = 0, burst = 0 }: GoLimiter, inForce: RuleSet, cap: number): LimiterModel {
  let [tokens, filledAt] = [burst, 0];
  const failures = new Map<number, number>();
  return {
    when(key, now) {
      failures.set(key, (failures.get(key) ?? 0) + 1);
      if (qps === Number.MAX_VALUE) return 0;
      const elapsed = now - filledAt;
      tokens = Math.min(burst, tokens + (Math.floor(elapsed / 1e9) + (elapsed % 1e9) / 1e9) * qps);
      filledAt = now;
      const left = tokens - 1;
      const delay = left < 0 ? Math.min(Math.trunc((-left / qps) * 1e9), LARGEST) : 0;
      if (delay > cap) return cap;
      tokens = left;
      return delay;
    },
    forget: (key) => void failures.delete(key),
    requeues: (key) => (inForce.has("every-limiter-counts") ? (failures.get(key) ?? 0) : 0),
  };
}

/** Counts nothing while a key backs off. */
function counting(model: LimiterModel): LimiterModel {
  const until = new Map<number, number>();
  return {
    ...model,
    when(key, now) {
      const left = (until.get(key) ?? now) - now;
      if (left > 0) return left;
      const delay = model.when(key, now);
      until.set(key, now + delay);
      return delay;
    },
    forget(key) {
      until.delete(key);
      model.forget(key);
    },
  };
}
