import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  Backoff,
  every,
  expectOk,
  isTerminalError,
  isTimeoutError,
  poll,
  retry,
  withTimeout,
} from "@holdfast/wait";
import { keepConnected } from "@holdfast/wait/connect";
import { Group, pollUntil, until } from "@holdfast/wait/go";
import { parseRetryAfter } from "@holdfast/wait/limit";
import { DecorrelatedJitterBackoff, GrpcBackoff, seededRandom } from "@holdfast/wait/strategies";
import { equal, hiddenAbort, reasonOf } from "./expect.mjs";

const HOUR = 3_600_000;

/** @type {Record<string, () => unknown>} */
export const waitChecks = {
  async "retry calls again until a call succeeds"() {
    const attempts = [];
    const value = await retry(
      ({ attempt }) => {
        attempts.push(attempt);
        if (attempt < 3) throw new Error("busy");
        return "value";
      },
      { backoff: { duration: 5 } },
    );
    equal([value, attempts], ["value", [1, 2, 3]]);
  },

  async "retry stops at a hidden abort without another call"() {
    const stop = hiddenAbort();
    let calls = 0;
    const failing = () => {
      calls++;
      throw new Error("busy");
    };
    const retrying = retry(failing, { backoff: { duration: 30 }, signal: stop.signal });
    await realClock.sleep(5);
    stop.abort("hidden");
    equal([await reasonOf(retrying), calls], ["hidden", 1]);
  },

  async "poll resolves with the first truthy value"() {
    const answers = [false, undefined, { phase: "Running" }];
    const pod = await poll(() => answers.shift(), { backoff: { duration: 2 } });
    equal(pod, { phase: "Running" });
  },

  async "every ticks on its grid until the loop ends"() {
    const start = realClock.monotonic();
    const early = [];
    for await (const tick of every(10)) {
      early.push(Math.max(start + 10 * (early.length + 1) - tick, 0) > 1e-3);
      if (early.length === 3) break;
    }
    equal(early, [false, false, false]);
  },

  async "withTimeout aborts the work and hands on a late value"() {
    const late = [];
    let signalOfWork = new AbortController().signal;
    const work = async (signal) => {
      signalOfWork = signal;
      await realClock.sleep(30);
      return "late value";
    };
    const error = await reasonOf(withTimeout(work, 5, { onLate: (value) => late.push(value) }));
    equal([isTimeoutError(error), signalOfWork.reason === error], [true, true]);
    await realClock.sleep(60);
    equal(late, ["late value"]);
  },

  async "expectOk turns a Response into a value, a delay or an end"() {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const answers = [
      new Response("busy", { status: 503 }),
      new Response("later", { status: 429, headers: { "Retry-After": "20" } }),
      new Response("hello"),
    ];
    const get = async () => (await expectOk(answers.shift() ?? Response.error(), { clock })).text();
    const text = await clock.run(() => retry(get, { backoff: { duration: 100 }, clock }));
    equal([text, clock.monotonic() - start], ["hello", 20_100]);
    const missing = await reasonOf(
      expectOk(new Response("no such page", { status: 404 }), { request: {} }),
    );
    equal([isTerminalError(missing), missing.message], [true, "HTTP 404: no such page"]);
  },

  "parseRetryAfter reads dates the same in every engine and time zone"() {
    const clock = new FakeClock({ now: Date.UTC(2026, 0, 1) });
    equal(parseRetryAfter("Thu, 01 Jan 2026 00:01:00 GMT", clock), 60_000);
    equal(parseRetryAfter("Thu Jan  1 00:01:00 2026", clock), 60_000);
    equal(parseRetryAfter("tomorrow", clock), undefined);
  },

  "delays equal those of every other engine to the bit"() {
    const take = (next) => Array.from({ length: 6 }, () => next());
    const random = seededRandom(7);
    const grown = new Backoff({ duration: 100, factor: 1.1, jitter: 0.3, random });
    equal(take(grown.delayFunc()), BACKOFF);
    const options = { duration: 100, cap: 10_000, random: seededRandom(7) };
    equal(take(new DecorrelatedJitterBackoff(options).delayFunc()), DECORRELATED);
    equal(take(new GrpcBackoff({ random: seededRandom(7) }).delayFunc()), GRPC);
  },

  async "keepConnected opens the connection again after each end"() {
    const stop = new AbortController();
    const opened = [];
    const open = () => opened.push("connection");
    const use = (count) => count === 3 && stop.abort("enough");
    await keepConnected(open, use, { backoff: { duration: 2 }, signal: stop.signal });
    equal(opened.length, 3);
  },

  async "the loops of Go end at an abort, and a Group waits for all"() {
    const stop = new AbortController();
    const calls = [];
    const group = new Group();
    group.start(() => until(() => calls.push("until"), HOUR, stop.signal));
    group.start(() => pollUntil(() => calls.push("poll") > 5, HOUR, { signal: stop.signal }));
    await realClock.sleep(5);
    stop.abort("bye");
    equal([await reasonOf(group.wait()), calls], ["bye", ["until", "poll"]]);
  },
};

const BACKOFF = [112.838109, 126.133351, 132.170732, 152.295026, 153.996568, 180.665421];
const DECORRELATED = [185.587393, 323.306205, 367.703246, 582.211827, 384.413908, 527.581467];
const GRPC = [1_000, 1_553.87966, 2_548.622785, 3_780.990842, 6_503.050573, 9_113.066089];
