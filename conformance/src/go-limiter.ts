import type { Clock } from "@holdfast/clock";
import {
  ExponentialLimiter,
  FastSlowLimiter,
  MaxOfLimiter,
  type RateLimiter,
  TokenBucketLimiter,
} from "@holdfast/controller";
import { type GoInt, toMilliseconds } from "./nanoseconds.ts";
import { outOfRange, rejections } from "./rejections.ts";

/** A rate limiter as it is recorded; `of` are those that it is made of. */
export interface GoLimiter {
  readonly kind: string;
  readonly base?: GoInt;
  readonly max?: GoInt;
  readonly fast?: GoInt;
  readonly slow?: GoInt;
  readonly maxFast?: number;
  readonly qps?: number;
  readonly burst?: number;
  readonly of?: readonly GoLimiter[];
}

/** `rate.Inf`, the largest float64. */
const UNLIMITED = Number.MAX_VALUE;

/** What Go's defaults stand for. */
export function spelledOut(limiter: GoLimiter): GoLimiter {
  switch (limiter.kind) {
    case "defaultController":
      return {
        kind: "maxOf",
        of: [
          { kind: "itemExponential", base: 5_000_000, max: 1_000_000_000_000 },
          { kind: "bucket", qps: 10, burst: 100 },
        ],
      };
    case "defaultItemBased":
      return { kind: "itemExponential", base: 1_000_000, max: 1_000_000_000_000 };
    default:
      return limiter;
  }
}

/** Which clock each part of a limiter is on, and by which key a bucket is asked. */
export interface LimiterClocks {
  readonly perKey: Clock;
  readonly bucket: Clock;
  /** Makes the key with which a bucket is asked. */
  readonly bucketKey: (key: string) => string;
}

/** The limiter of Holdfast that stands for one of Go's; `cap` in milliseconds is a maxWait around it. */
export function createLimiter(
  go: GoLimiter,
  clocks: LimiterClocks,
  cap: number = Number.POSITIVE_INFINITY,
): RateLimiter {
  const limiter = spelledOut(go);
  switch (limiter.kind) {
    case "itemExponential":
      return new ExponentialLimiter({ ...exponentialOptions(limiter, cap), clock: clocks.perKey });
    case "itemFastSlow":
      return new FastSlowLimiter({ ...fastSlowOptions(limiter, cap), clock: clocks.perKey });
    case "bucket": {
      const bucket = new TokenBucketLimiter({
        ...bucketOptions(limiter, cap),
        clock: clocks.bucket,
      });
      return {
        when: (key) => bucket.when(clocks.bucketKey(key)),
        forget: (key) => bucket.forget(key),
        requeues: (key) => bucket.requeues(key),
      };
    }
    case "maxOf":
      return new MaxOfLimiter(
        (limiter.of ?? []).map((part) => createLimiter(part, clocks, cap)),
        { clock: clocks.perKey },
      );
    case "maxWait": {
      const [part] = limiter.of ?? [];
      if (part === undefined) throw new Error("a maxWait has one part");
      return createLimiter(part, clocks, Math.min(cap, toMilliseconds(limiter.max ?? 0)));
    }
    default:
      throw new Error(`unknown limiter ${limiter.kind}`);
  }
}

function exponentialOptions({ base, max }: GoLimiter, cap: number) {
  return {
    duration: toMilliseconds(base ?? 0),
    cap: Math.min(toMilliseconds(max ?? 0), cap),
    expireAfter: Number.POSITIVE_INFINITY,
  };
}

function fastSlowOptions({ fast, slow, maxFast = 0 }: GoLimiter, cap: number) {
  return {
    fast: Math.min(toMilliseconds(fast ?? 0), cap),
    slow: Math.min(toMilliseconds(slow ?? 0), cap),
    maxFast,
    expireAfter: Number.POSITIVE_INFINITY,
  };
}

function bucketOptions({ qps = 0, burst = 0 }: GoLimiter, cap: number) {
  return {
    qps: qps === UNLIMITED ? Number.POSITIVE_INFINITY : qps,
    burst,
    cap,
    expireAfter: Number.POSITIVE_INFINITY,
  };
}

/** The numbers of a limiter that no option of Holdfast takes, by the name of the option. */
export function rejectedOptions(go: GoLimiter): Record<string, number> {
  const limiter = spelledOut(go);
  switch (limiter.kind) {
    case "itemExponential": {
      const { duration, cap } = exponentialOptions(limiter, Number.POSITIVE_INFINITY);
      return { ...outOfRange({ duration }), ...(cap > 0 ? {} : { cap }) };
    }
    case "itemFastSlow":
      return outOfRange({ maxFast: limiter.maxFast ?? 0 });
    case "bucket": {
      const { qps, burst } = bucketOptions(limiter, Number.POSITIVE_INFINITY);
      return { ...(qps > 0 ? {} : { qps }), ...(burst >= 1 ? {} : { burst }) };
    }
    case "maxOf":
      return (limiter.of ?? []).length === 0 ? { limiters: 0 } : {};
    default:
      return {};
  }
}

/** The names of the options that are rejected as they should be. */
export function limiterRejections(go: GoLimiter): string[] {
  return rejections(rejectedOptions(go), (option) => {
    switch (go.kind) {
      case "itemExponential":
        return new ExponentialLimiter(option);
      case "itemFastSlow":
        return new FastSlowLimiter({ fast: 1, slow: 1, maxFast: 1, ...option });
      case "maxOf":
        return new MaxOfLimiter([]);
      default:
        return new TokenBucketLimiter({ qps: 1, burst: 1, ...option });
    }
  });
}
