import { FakeClock } from "@holdfast/clock/testing";
import { onError } from "@holdfast/wait/go";
import { pollBackoff, retryBackoff } from "@holdfast/wait/rxjs";
import { lastValueFrom, of, throwError } from "rxjs";
import { expect, it } from "vitest";
import { errorOf } from "../../../test/error-of.ts";

const no = async () => false;

const DOORS: Record<string, (clock: FakeClock) => PromiseLike<unknown>> = {
  "retriable(error)": (clock) =>
    onError({ duration: 1, steps: 3 }, no as never, () => Promise.reject(new Error("down")), {
      clock,
    }),
  "until(value)": (clock) =>
    lastValueFrom(
      of(1).pipe(pollBackoff(no as never, { backoff: { duration: 1 }, timeout: 1_000, clock })),
    ),
  "options.shouldRetry(context)": (clock) =>
    lastValueFrom(
      throwError(() => new Error("down")).pipe(
        retryBackoff({ backoff: { duration: 1 }, shouldRetry: no as never, clock }),
      ),
    ),
};

it.each(Object.entries(DOORS))(
  "a Promise from %s is a mistake, and not true",
  async (name, run) => {
    const clock = new FakeClock();
    const error = await clock.run(() => errorOf(Promise.resolve(run(clock))));
    expect(String(error)).toBe(`TypeError: ${name} must return true or false, got a Promise`);
  },
);
