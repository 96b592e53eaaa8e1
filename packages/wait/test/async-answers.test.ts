import { setImmediate } from "node:timers/promises";
import { FakeClock } from "@holdfast/clock/testing";
import { onError } from "@holdfast/wait/go";
import { pollBackoff, retryBackoff } from "@holdfast/wait/rxjs";
import { lastValueFrom, of, throwError } from "rxjs";
import { expect, it } from "vitest";
import { errorOf } from "../../../test/error-of.ts";
import { collectUncaught } from "../../../test/uncaught.ts";

const no = async () => false;
const broken = () => Promise.reject(new Error("broken"));

const DOORS: Record<string, (clock: FakeClock, answer?: object) => PromiseLike<unknown>> = {
  "retriable(error)": (clock, answer = no) =>
    onError({ duration: 1, steps: 3 }, answer as never, () => Promise.reject(new Error("down")), {
      clock,
    }),
  "until(value)": (clock, answer = no) =>
    lastValueFrom(
      of(1).pipe(pollBackoff(answer as never, { backoff: { duration: 1 }, timeout: 1_000, clock })),
    ),
  "options.shouldRetry(context)": (clock, answer = no) =>
    lastValueFrom(
      throwError(() => new Error("down")).pipe(
        retryBackoff({ backoff: { duration: 1 }, shouldRetry: answer as never, clock }),
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

it.each(Object.entries(DOORS))(
  "the rejection of a Promise from %s does not end the process",
  async (_, run) => {
    using uncaught = collectUncaught("unhandledRejection");
    const clock = new FakeClock();
    const error = await clock.run(() => errorOf(Promise.resolve(run(clock, broken))));
    await setImmediate();
    expect([error, uncaught.errors]).toEqual([expect.any(TypeError), []]);
  },
);
