// Checked by the compiler only: nothing here runs.
import { Backoff, type BackoffManager } from "@holdfast/wait";
import {
  backoffDelay,
  backoffUntil$,
  pollBackoff,
  type RetryBackoffContext,
  repeatBackoff,
  retryBackoff,
} from "@holdfast/wait/rxjs";
import { type Observable, of, repeat, retry } from "rxjs";
import { expectTypeOf } from "vitest";

declare const source: Observable<"a" | "b">;
declare const newManager: () => BackoffManager;
const backoff = { duration: 1 };

// Results.

expectTypeOf(source.pipe(retryBackoff({ backoff }))).toEqualTypeOf(source);
expectTypeOf(source.pipe(repeatBackoff({ backoff: new Backoff(backoff) }))).toEqualTypeOf(source);
expectTypeOf(source.pipe(pollBackoff((value) => value === "a", { backoff }))).toEqualTypeOf<
  Observable<"a">
>();
expectTypeOf(source.pipe(pollBackoff((value) => value.length > 1, { backoff }))).toEqualTypeOf(
  source,
);
expectTypeOf(source.pipe(retry({ delay: backoffDelay(backoff) }))).toEqualTypeOf(source);
expectTypeOf(backoffUntil$(() => 1, newManager, true)).toEqualTypeOf<Observable<number>>();
expectTypeOf(backoffUntil$(async () => 1, newManager, true)).toEqualTypeOf<Observable<number>>();

// Arguments.

source.pipe(
  retryBackoff({
    backoff,
    shouldRetry: (context) => expectTypeOf(context).toEqualTypeOf<RetryBackoffContext>(),
    delay: ({ error }, next) => (error === undefined ? next : 1),
    clock: undefined,
  }),
);

// Compile-time errors.

// @ts-expect-error The shape of the delays has no default.
retryBackoff({});
// @ts-expect-error One vocabulary: it is called retries.
retryBackoff({ backoff, count: 3 });
// @ts-expect-error A promise is not a decision: it would always be taken for a yes.
retryBackoff({ backoff, shouldRetry: async () => false });
// @ts-expect-error `until` is required.
pollBackoff({ backoff });
// @ts-expect-error A notifier counts retries; repeat counts runs, and hands over nothing else.
of(1).pipe(repeat({ delay: backoffDelay(backoff) }));
// @ts-expect-error A manager serves one loop, and each subscription is one.
backoffUntil$(() => 1, newManager(), true);
