// Checked by the compiler only: nothing here runs.
import type { Clock, Timer } from "@holdfast/clock";
import {
  Backoff,
  type BackoffManager,
  type BackoffOptions,
  type BackoffStrategy,
  backoffUntil,
  type DelayFunc,
  type EveryOptions,
  ExponentialBackoffManager,
  every,
  expectOk,
  isRetryAfterError,
  isTerminalError,
  isTimeoutError,
  Jitter,
  JitteredBackoffManager,
  jitter,
  type PollOptions,
  poll,
  type Random,
  RetryAfterError,
  type RetryContext,
  type RetryOptions,
  retry,
  TerminalError,
  TimeoutError,
  withTimeout,
} from "@holdfast/wait";
import { type ConnectOptions, connectWithBackoff, keepConnected } from "@holdfast/wait/connect";
import {
  type Condition,
  DefaultRetry,
  delayUntil,
  ExhaustedError,
  exponentialBackoff,
  forever,
  Group,
  isExhaustedError,
  isInterrupted,
  jitterUntil,
  KeyedBackoff,
  nonSlidingUntil,
  onError,
  type PeriodicOptions,
  type PollUntilOptions,
  pollUntil,
  retryOnConflict,
  until,
} from "@holdfast/wait/go";
import { parseRetryAfter } from "@holdfast/wait/limit";
import { backoffManager } from "@holdfast/wait/loop";
import { seededRandom } from "@holdfast/wait/strategies";
import { expectTypeOf } from "vitest";

declare const clock: Clock;
declare const signal: AbortSignal;
declare const manager: BackoffManager;
const f = () => {};

// Results.

expectTypeOf(new Backoff({ duration: 1 })).toExtend<BackoffStrategy>();
expectTypeOf(new Backoff({ duration: 1 }).step()).toEqualTypeOf<number>();
expectTypeOf(new Backoff({ duration: 1 }).delayFunc()).toEqualTypeOf<DelayFunc>();
expectTypeOf(new Backoff({ duration: 1 }).delayWithReset(clock, 1)).toEqualTypeOf<DelayFunc>();
expectTypeOf([...new Backoff({ duration: 1 })]).toEqualTypeOf<number[]>();
expectTypeOf(jitter(1, 1)).toEqualTypeOf<number>();
expectTypeOf(Jitter).toEqualTypeOf<typeof jitter>();
expectTypeOf(seededRandom(1)).toEqualTypeOf<Random>();
expectTypeOf(
  backoffManager(new Backoff({ duration: 1 }), { clock }),
).toEqualTypeOf<BackoffManager>();
expectTypeOf(new JitteredBackoffManager({ duration: 1 })).toExtend<BackoffManager>();
expectTypeOf(new ExponentialBackoffManager({ duration: 1, factor: 2 })).toExtend<BackoffManager>();
expectTypeOf(manager.backoff()).toEqualTypeOf<Timer>();
expectTypeOf(backoffUntil(f, manager, true, signal)).toEqualTypeOf<Promise<void>>();
expectTypeOf(jitterUntil(f, 1, signal)).toEqualTypeOf<Promise<void>>();
expectTypeOf(until(f, 1, signal)).toEqualTypeOf<Promise<void>>();
expectTypeOf(nonSlidingUntil(f, 1, signal)).toEqualTypeOf<Promise<void>>();
expectTypeOf(forever(f, 1)).toEqualTypeOf<Promise<never>>();
expectTypeOf(pollUntil(() => true, 1)).toEqualTypeOf<Promise<void>>();
expectTypeOf(
  delayUntil(
    () => 1,
    async () => true,
  ),
).toEqualTypeOf<Promise<void>>();
expectTypeOf(onError(DefaultRetry, Boolean, () => 42)).toEqualTypeOf<Promise<number>>();
expectTypeOf(retryOnConflict(DefaultRetry, async () => "done")).toEqualTypeOf<Promise<string>>();
expectTypeOf(isInterrupted(1)).toEqualTypeOf<boolean>();
expectTypeOf(new KeyedBackoff({ duration: 1, cap: 1 }).next("key")).toEqualTypeOf<number>();
expectTypeOf(new Group().wait()).toEqualTypeOf<Promise<void>>();
expectTypeOf(connectWithBackoff(() => 42, { signal })).toEqualTypeOf<Promise<number>>();
expectTypeOf(connectWithBackoff(async () => "a", { signal })).toEqualTypeOf<Promise<string>>();
expectTypeOf(keepConnected(() => 42, f, { signal })).toEqualTypeOf<Promise<void>>();
expectTypeOf(new TimeoutError(1).code).toEqualTypeOf<"ERR_WAIT_TIMEOUT">();
expectTypeOf(new ExhaustedError(1).code).toEqualTypeOf<"ERR_WAIT_EXHAUSTED">();

expectTypeOf(retry(() => 1)).toEqualTypeOf<Promise<number>>();
expectTypeOf(retry(async () => 1)).toEqualTypeOf<Promise<number>>();
expectTypeOf(retry((attempt) => attempt)).resolves.toHaveProperty("signal");
expectTypeOf(poll(() => true as boolean)).toEqualTypeOf<Promise<true>>();
expectTypeOf(poll(async () => "" as string | undefined)).toEqualTypeOf<Promise<string>>();
expectTypeOf(every(1)).toExtend<AsyncIterable<number>>();
expectTypeOf(new TerminalError("404").code).toEqualTypeOf<"ERR_WAIT_TERMINAL">();
expectTypeOf(RetryAfterError.delayOf(1)).toEqualTypeOf<number | undefined>();
expectTypeOf(withTimeout(() => 42, 1)).toEqualTypeOf<Promise<number>>();
expectTypeOf(withTimeout(async () => "a", 1)).toEqualTypeOf<Promise<string>>();
expectTypeOf(expectOk(new Response())).toEqualTypeOf<Promise<Response>>();
expectTypeOf(parseRetryAfter("1")).toEqualTypeOf<number | undefined>();

declare const caught: unknown;
expectTypeOf(isTerminalError(caught)).toEqualTypeOf<boolean>();
expectTypeOf(isRetryAfterError(caught)).toEqualTypeOf<boolean>();
expectTypeOf(isTimeoutError(caught)).toEqualTypeOf<boolean>();
expectTypeOf(isExhaustedError(caught)).toEqualTypeOf<boolean>();

// Arguments.

/** Strategies and managers are structural types; no class to extend. */
void backoffUntil(f, backoffManager({ delayFunc: () => () => 1000 }, { clock }), false, signal);
void backoffUntil(f, { backoff: () => clock.newTimer(1000) }, false, signal);
expectTypeOf<{ delayFunc(): () => number }>().toExtend<BackoffStrategy>();

/** The work receives the signal and can return any value, or a promise of one. */
void until((own) => expectTypeOf(own).toEqualTypeOf<AbortSignal>(), 1, signal);
void until(() => 42, 1, signal);
void until(async () => "done", 1, signal, {
  onError: (error) => expectTypeOf(error).toBeUnknown(),
});

/** Hooks can return promises; their context is read-only. */
void retry(f, { shouldRetry: async () => true, delay: async (_, next) => next, onRetry: () => 1 });
void retry(f, {
  shouldRetry(context) {
    expectTypeOf(context).toEqualTypeOf<RetryContext>();
    // @ts-expect-error It is frozen.
    context.delay = 1;
    return context.error instanceof Error;
  },
});

/** The type of the connection follows from `connect`, in `use` and in `onLate`. */
void keepConnected(
  async ({ attempt, signal: own }) => {
    expectTypeOf(attempt).toBeNumber();
    expectTypeOf(own).toEqualTypeOf<AbortSignal>();
    return new Map<string, number>();
  },
  (connection, own) => {
    expectTypeOf(connection).toEqualTypeOf<Map<string, number>>();
    expectTypeOf(own).toEqualTypeOf<AbortSignal>();
  },
  { signal, onLate: (connection) => connection.clear(), onRetry: ({ error }) => void error },
);
expectTypeOf<{ signal: AbortSignal; backoff: { duration: 1 } }>().toExtend<
  ConnectOptions<unknown>
>();

/** An option of undefined means the default, also with exactOptionalPropertyTypes. */
expectTypeOf<{ duration: number; cap: undefined }>().toExtend<BackoffOptions>();
expectTypeOf<{ clock: undefined; onError: undefined }>().toExtend<PeriodicOptions>();
expectTypeOf<{ signal: undefined; retries: undefined }>().toExtend<RetryOptions>();
expectTypeOf<{ signal: undefined; timeout: undefined }>().toExtend<PollOptions>();
expectTypeOf<{ signal: undefined; jitter: undefined }>().toExtend<EveryOptions>();

/** A condition receives the signal and returns a boolean or a promise of one; so does retried work. */
expectTypeOf<(signal: AbortSignal) => Promise<boolean>>().toExtend<Condition>();
void exponentialBackoff(() => false, { backoff: { duration: 1, steps: 3 }, signal });
void onError(DefaultRetry, Boolean, (own) => expectTypeOf(own).toEqualTypeOf<AbortSignal>());
expectTypeOf<{ timeout: undefined; signal: undefined }>().toExtend<PollUntilOptions>();
new KeyedBackoff<object>({ duration: 1, cap: 1 }).reset({});

// Compile-time errors.

// @ts-expect-error A condition must return a boolean.
void pollUntil(() => {}, 1);
// @ts-expect-error A strategy has no steps to count attempts with.
void onError({ delayFunc: () => () => 1 }, Boolean, f);
// @ts-expect-error A table without a cap would never forget a key.
new KeyedBackoff({ duration: 1 });
// @ts-expect-error Keys are text unless said otherwise.
new KeyedBackoff({ duration: 1, cap: 1 }).reset(7);

// @ts-expect-error A loop without a signal could not be stopped; forever() is for those.
void until(f, 1);
// @ts-expect-error The same for every relative.
void nonSlidingUntil(f, 1);
// @ts-expect-error The same for every relative.
void jitterUntil(f, 1);
// @ts-expect-error The same for every relative.
void backoffUntil(f, manager, true);
// @ts-expect-error A peer may never accept.
void connectWithBackoff(f, {});
// @ts-expect-error The same for a connection that is kept.
void keepConnected(f, f, {});
// @ts-expect-error A signal that may be missing is a loop that may not stop.
void until(f, 1, undefined as AbortSignal | undefined);
// @ts-expect-error A controller is not its signal.
void until(f, 1, new AbortController());
// @ts-expect-error Whether a loop slides has no default in Go, so it has none here.
void backoffUntil(f, manager, undefined, signal);
// @ts-expect-error A strategy is a shape; backoffManager() gives it a timer.
void backoffUntil(f, new Backoff({ duration: 1 }), true, signal);
// @ts-expect-error Jitter belongs to jitterUntil().
void until(f, 1, signal, { jitter: 0.5 });
// @ts-expect-error Where the delays start has no default.
new Backoff({});
// @ts-expect-error A bare number is milliseconds; text is not a duration.
new Backoff({ duration: "1s" });
// @ts-expect-error A Backoff taken for its own options would lose its factor, cap and jitter.
new Backoff(new Backoff({ duration: 1 }));
// @ts-expect-error There are two forms by name, and no third.
new Backoff({ duration: 1, jitter: "half" });
// @ts-expect-error One vocabulary: it is called duration.
new Backoff({ initialDelay: 1 });
// @ts-expect-error The same, inside other options.
void retry(f, { backoff: { initialDelay: 1 } });
// @ts-expect-error Attempts are counted once, as retries after the first.
void retry(f, { maxAttempts: 3 });
// @ts-expect-error A poll has no attempts to count.
void poll(f, { retries: 3 });
// @ts-expect-error One vocabulary: it is called cap.
new Backoff({ duration: 1, max: 10 });
// @ts-expect-error An exponential manager without a factor would be a constant one.
new ExponentialBackoffManager({ duration: 1 });
// @ts-expect-error How much jitter there is has to be said.
jitter(1);
// @ts-expect-error `random` is a function.
new Backoff({ duration: 1, random: 0.5 });
// @ts-expect-error The delay is the strategy's to say.
backoffManager({ delayFunc: () => () => "1s" }, { clock });
// @ts-expect-error A backoff's state is read here and moved by step().
new Backoff({ duration: 1 }).duration = 2;
