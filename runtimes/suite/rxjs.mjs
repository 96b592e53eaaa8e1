import { asScheduler, fromScheduler } from "@holdfast/clock/rxjs";
import { FakeClock } from "@holdfast/clock/testing";
import { Controller, fromObservable, silentLogger } from "@holdfast/controller";
import { pollBackoff, retryBackoff } from "@holdfast/wait/rxjs";
import { asyncScheduler, defer, firstValueFrom, lastValueFrom, of, timer } from "rxjs";
import { equal } from "./expect.mjs";

/** @type {Record<string, () => unknown>} */
export const rxjsChecks = {
  async "retryBackoff subscribes again until the source succeeds"() {
    let subscriptions = 0;
    const source = defer(() => {
      if (++subscriptions < 3) throw new Error("busy");
      return of("value");
    });
    const value = await firstValueFrom(source.pipe(retryBackoff({ backoff: { duration: 2 } })));
    equal([value, subscriptions], ["value", 3]);
  },

  async "pollBackoff subscribes again until the value is right"() {
    const answers = [1, 2, 3];
    const source = defer(() => of(answers.shift()));
    const isThree = (value) => value === 3;
    const polled = source.pipe(pollBackoff(isThree, { backoff: { duration: 2 } }));
    equal([await lastValueFrom(polled), answers], [3, []]);
  },

  async "a clock is a scheduler, and a scheduler is a clock"() {
    const clock = new FakeClock();
    const start = clock.monotonic();
    await clock.run(() => firstValueFrom(timer(60_000, asScheduler(clock))));
    equal(clock.monotonic() - start, 60_000);
    await fromScheduler(asyncScheduler).sleep(5);
  },

  async "an observable is a source of a controller"() {
    const stop = new AbortController();
    const keys = [];
    const controller = new Controller({
      name: "stream",
      logger: silentLogger,
      sources: [fromObservable("stream", of("a", "b"))],
      reconcile({ key }) {
        if (keys.push(key) === 2) stop.abort();
      },
    });
    await controller.run(stop.signal);
    equal(keys, ["a", "b"]);
  },
};
