import { FakeClock } from "@holdfast/clock/testing";
import * as root from "@holdfast/wait";
import * as connect from "@holdfast/wait/connect";
import * as go from "@holdfast/wait/go";
import * as limit from "@holdfast/wait/limit";
import * as loops from "@holdfast/wait/loop";
import * as rxjs from "@holdfast/wait/rxjs";
import * as strategies from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import * as kinds from "../../../test/bad-input.ts";
import { BACKOFF_OPTIONS } from "../src/delay/growth.ts";
import { FURTHER_STRATEGIES, jitterForm } from "./strategies.ts";

const { all, f, refuses } = kinds;

const clock = new FakeClock();
const { signal: live } = new AbortController();
const duration = 1;
const strategy = { delayFunc: () => () => 1 };
const manager = loops.backoffManager(strategy, { clock });
const connected = { clock, signal: live, backoff: { duration } };
const untilStop = { clock, signal: live };
const onTime = { backoff: { duration }, clock };

/** A number, or the name of a form. */
const plainBackoff = kinds.optionsOf(BACKOFF_OPTIONS, { jitterForm });

const own = {
  plainBackoff,
  /** The options of a `Backoff`, where a strategy is one step too far. */
  backoffOptions: all(
    plainBackoff,
    refuses("TypeError: PATH must be plain options, got a strategy", strategy),
  ),
  backoff: all(
    plainBackoff,
    refuses("TypeError: PATH must have a method delayFunc(), got [object Object]", {
      delayFunc: 1,
    }),
  ),
  jitterForm,
  request: kinds.data<root.FetchRequest>({
    headers: kinds.anyObject,
    // Null is none, as in the options of `fetch`.
    signal: refuses("TypeError: PATH must be an AbortSignal, got 1", 1),
  }),
  stringOrFunc: kinds.string,
  response: all(
    refuses("TypeError: PATH.headers must have a method get(), got undefined", null),
    refuses("TypeError: PATH.headers must have a method get(), got [object Object]", {
      headers: {},
    }),
  ),
};
const sources = new URL("../src/", import.meta.url);
const { constructs, method, rejects, throws } = await kinds.doorsOf(sources, own);

const keyed = new go.KeyedBackoff({ duration, cap: 1, clock });
const group = new go.Group();
const notify = rxjs.backoffDelay({ duration }, { clock });
const periodic = "fn: func, period: finiteFrom(0), signal: abortSignal, options?:";

const doors = [
  rejects(root.retry, [f, connected], "fn: func, options?: RETRY_OPTIONS"),
  constructs(limit.RetryBudget, [{}], "options?: RETRY_BUDGET_OPTIONS"),
  rejects(root.poll, [f, connected], "fn: func, options?: POLL_OPTIONS"),
  ...[true, false].map((sliding) => ({
    ...throws(
      root.every,
      [1, { ...untilStop, sliding }],
      "period: positive, options?: EVERY_OPTIONS",
    ),
    name: sliding ? "every, sliding," : "every",
  })),
  rejects(
    root.withTimeout,
    [f, 1, untilStop],
    "work: func, timeout: notNegative, options?: WITH_TIMEOUT_OPTIONS",
  ),
  rejects(
    limit.endsWithin,
    [f, 1, { clock }],
    "work: func, timeout: notNegative, options?: ENDS_WITHIN_OPTIONS",
  ),
  throws(limit.timeLeft, [live], "signal?: abortSignal"),
  rejects(
    root.backoffUntil,
    [f, manager, true, live, {}],
    "fn: func, manager: methods(backoff), sliding: flag, signal: abortSignal, options?: LOOP_OPTIONS",
  ),
  rejects(
    loops.loop,
    [{ run: f, signal: AbortSignal.abort(), delay: () => 1, clock }],
    "options: LOOP",
  ),
  constructs(limit.Deadline, [1, { clock }], "timeout: notNegative, options?: DEADLINE_OPTIONS"),
  throws(
    strategies.strategyOf,
    ["backoff", { duration }],
    "name: anything, backoff: plainBackoff, random?: anything",
  ),
  throws(
    loops.backoffManager,
    [strategy, { clock }],
    "strategy: methods(delayFunc), options?: BACKOFF_MANAGER_OPTIONS",
  ),
  constructs(
    root.ExponentialBackoffManager,
    [{ duration, factor: 2, clock }],
    "options: EXPONENTIAL_BACKOFF_MANAGER_OPTIONS",
  ),
  constructs(
    root.JitteredBackoffManager,
    [{ duration, clock }],
    "options: JITTERED_BACKOFF_MANAGER_OPTIONS",
  ),
  constructs(root.Backoff, [{ duration }], "options: backoffOptions"),
  method(
    new root.Backoff({ duration }),
    "delayWithReset",
    "throws",
    [clock, 1],
    "clock: methods(monotonic), resetInterval: finiteFrom(0)",
  ),
  ...[root.jitter, root.Jitter].map((spread) =>
    throws(spread, [1, 1], "duration: finiteFrom(0), maxFactor: finiteFrom(0), random?: func"),
  ),
  throws(strategies.seededRandom, [1], "seed: finite"),
  constructs(root.RetryAfterError, [1], "after: delay, options?: RETRY_AFTER_ERROR_OPTIONS"),
  constructs(root.TimeoutError, [1], "timeout: anything, options?: TIMEOUT_ERROR_OPTIONS"),
  constructs(root.TerminalError, ["no such page"], "message: anything, options?: ERROR_OPTIONS"),
  constructs(go.ExhaustedError, [1], "attempts: anything, options?: ERROR_OPTIONS"),
  throws(
    limit.parseRetryAfter,
    ["1", clock, null],
    "value: anything, clock?: methods(now), date?: anything",
  ),
  rejects(
    root.expectOk,
    [new Response(), { clock, request: { headers: {} } }],
    "response?: response, options?: EXPECT_OK_OPTIONS",
  ),
  rejects(connect.connectWithBackoff, [f, connected], "connect: func, options: CONNECT_OPTIONS"),
  rejects(
    connect.keepConnected,
    [f, f, connected],
    "connect: func, use: func, options: KEEP_CONNECTED_OPTIONS",
  ),

  ...[go.until, go.nonSlidingUntil].map((subject) =>
    rejects(subject, [f, 1, live, { clock }], `${periodic} PERIODIC_OPTIONS`),
  ),
  rejects(go.jitterUntil, [f, 1, live, { clock }], `${periodic} JITTER_UNTIL_OPTIONS`),
  rejects(
    go.forever,
    [f, 1, { clock }],
    "fn: func, period: finiteFrom(0), options?: PERIODIC_OPTIONS",
  ),
  rejects(
    go.pollUntil,
    [f, 1, untilStop],
    "condition: func, interval: finiteFrom(0), options?: POLL_UNTIL_OPTIONS",
  ),
  rejects(
    go.delayUntil,
    [() => 1, f, untilStop],
    "delayFunc: func, condition: func, options?: POLL_UNTIL_OPTIONS",
  ),
  rejects(
    go.exponentialBackoff,
    [f, connected],
    "condition: func, options: EXPONENTIAL_BACKOFF_OPTIONS",
  ),
  rejects(
    go.onError,
    [{ duration }, Boolean, f, untilStop],
    "options.backoff: backoffOptions, retriable: func, fn: func, options?: ON_ERROR_OPTIONS",
  ),
  rejects(
    go.retryOnConflict,
    [{ duration }, f, untilStop],
    "options.backoff: backoffOptions, fn: func, options?: ON_ERROR_OPTIONS",
  ),
  method(group, "start", "throws", [f], "fn: func"),
  method(group, "startWithSignal", "throws", [f, live], "fn: func, signal: abortSignal"),
  constructs(go.KeyedBackoff, [{ duration, cap: 1, clock }], "options: KEYED_BACKOFF_OPTIONS"),
  method(keyed, "next", "throws", ["a", 1], "key: anything, at?: instant"),
  method(keyed, "isInBackoffSince", "throws", ["a", 1], "key: anything, at: instant"),
  method(keyed, "isInBackoffSinceUpdate", "throws", ["a", 1], "key: anything, at?: instant"),

  ...FURTHER_STRATEGIES.map(({ Strategy, options, declared }) =>
    constructs(Strategy, [options], declared),
  ),
  throws(strategies.grpcBackoff, [0], "retries: whole(0), options?: GRPC_BACKOFF_OPTIONS"),
  method(new strategies.AttemptBackoff(), "forAttempt", "throws", [1], "attempt: whole(0)"),
  throws(strategies.expectedSlots, [1], "collisions: whole(0), backoffLimit?: whole(0)"),

  throws(rxjs.retryBackoff, [onTime], "options: RETRY_BACKOFF_OPTIONS"),
  throws(rxjs.repeatBackoff, [onTime], "options: REPEAT_BACKOFF_OPTIONS"),
  throws(rxjs.pollBackoff, [f, onTime], "until: func, options: POLL_BACKOFF_OPTIONS"),
  throws(
    rxjs.backoffDelay,
    [{ duration }, { clock }],
    "backoff: backoff, options?: BACKOFF_DELAY_OPTIONS",
  ),
  {
    ...throws(notify, [new Error("refused"), 1], "error: anything, retryCount: whole(1)"),
    name: "the notifier of backoffDelay",
  },
  throws(
    rxjs.backoffUntil$,
    [f, () => manager, true, {}],
    "fn: func, newManager: func, sliding: flag, options?: LOOP_OPTIONS",
  ),
];

kinds.testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
});

const reports = new URL("../api/", import.meta.url);
kinds.testEveryExport(
  reports,
  { index: root, connect, go, limit, loop: loops, strategies, rxjs },
  doors,
  [
    // In the table of clock.
    root.findError,
    // Guards answer for every value.
    ...[go.isConflict, go.isInterrupted],
    // Errors that the library makes, or that say what they are given.
    ...[strategies.ExcessiveCollisionsError, root.HttpError],
    // Made without arguments; its methods are doors.
    go.Group,
  ],
);

it("names an unknown option of a backoff by its whole path, and the likely one", async () => {
  const options = { backoff: { duration: 3, factr: 9 }, clock };
  await expect(root.retry(f, options as never)).rejects.toThrow(
    "options.backoff.factr is not an option of Backoff; did you mean options.backoff.factor?",
  );
});
