import { FakeClock } from "@holdfast/clock/testing";
import type { Kinds } from "@holdfast/kit";
import * as root from "@holdfast/wait";
import {
  Backoff,
  backoffUntil,
  ExponentialBackoffManager,
  every,
  expectOk,
  type FetchRequest,
  HttpError,
  Jitter,
  JitteredBackoffManager,
  jitter,
  poll,
  RetryAfterError,
  retry,
  TerminalError,
  TimeoutError,
  withTimeout,
} from "@holdfast/wait";
import * as connect from "@holdfast/wait/connect";
import { connectWithBackoff, keepConnected } from "@holdfast/wait/connect";
import * as go from "@holdfast/wait/go";
import {
  delayUntil,
  ExhaustedError,
  exponentialBackoff,
  forever,
  Group,
  isConflict,
  isInterrupted,
  jitterUntil,
  KeyedBackoff,
  nonSlidingUntil,
  onError,
  pollUntil,
  retryOnConflict,
  until,
} from "@holdfast/wait/go";
import * as limit from "@holdfast/wait/limit";
import { Deadline, endsWithin, parseRetryAfter, RetryBudget, timeLeft } from "@holdfast/wait/limit";
import * as loops from "@holdfast/wait/loop";
import { backoffManager, loop } from "@holdfast/wait/loop";
import * as rxjs from "@holdfast/wait/rxjs";
import {
  backoffDelay,
  backoffUntil$,
  pollBackoff,
  repeatBackoff,
  retryBackoff,
} from "@holdfast/wait/rxjs";
import * as strategies from "@holdfast/wait/strategies";
import {
  AttemptBackoff,
  ExcessiveCollisionsError,
  expectedSlots,
  grpcBackoff,
  seededRandom,
  strategyOf,
} from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import {
  all,
  anyObject,
  constructs,
  type Door,
  data,
  except,
  finite,
  finiteFrom,
  flag,
  func,
  instant,
  type Kind,
  method,
  methods,
  delay as milliseconds,
  named,
  notNegative,
  optionsOf,
  positive,
  rejects,
  required,
  signal,
  string,
  testBadInput,
  testEveryExport,
  throws,
  unchecked,
  whole,
} from "../../../test/bad-input.ts";
import { CONNECT_OPTIONS } from "../src/connect/connection-attempts.ts";
import { KEEP_CONNECTED_OPTIONS } from "../src/connect/keep-connected.ts";
import { BACKOFF_OPTIONS } from "../src/delay/growth.ts";
import { POLL_UNTIL_OPTIONS } from "../src/go/condition-loop.ts";
import { EXPONENTIAL_BACKOFF_OPTIONS } from "../src/go/exponential-backoff.ts";
import { KEYED_BACKOFF_OPTIONS } from "../src/go/keyed-backoff.ts";
import { ON_ERROR_OPTIONS } from "../src/go/on-error.ts";
import { JITTER_UNTIL_OPTIONS, PERIODIC_OPTIONS } from "../src/go/until.ts";
import { DEADLINE_OPTIONS } from "../src/limit/deadline.ts";
import { ENDS_WITHIN_OPTIONS } from "../src/limit/ends-within.ts";
import { TIMEOUT_ERROR_OPTIONS } from "../src/limit/timeout-error.ts";
import { WITH_TIMEOUT_OPTIONS } from "../src/limit/with-timeout.ts";
import { BACKOFF_MANAGER_OPTIONS } from "../src/loop/backoff-manager.ts";
import { EXPONENTIAL_BACKOFF_MANAGER_OPTIONS } from "../src/loop/exponential-backoff-manager.ts";
import { JITTERED_BACKOFF_MANAGER_OPTIONS } from "../src/loop/jittered-backoff-manager.ts";
import { LOOP } from "../src/loop/loop.ts";
import { LOOP_OPTIONS } from "../src/loop/loop-options.ts";
import { EVERY_OPTIONS } from "../src/poll/every.ts";
import { POLL_OPTIONS } from "../src/poll/poll.ts";
import { EXPECT_OK_OPTIONS } from "../src/retry/expect-ok.ts";
import { RETRY_OPTIONS } from "../src/retry/retry.ts";
import { RETRY_AFTER_ERROR_OPTIONS } from "../src/retry/retry-after-error.ts";
import { RETRY_BUDGET_OPTIONS } from "../src/retry/retry-budget.ts";
import { ERROR_OPTIONS } from "../src/retry/terminal-error.ts";
import { BACKOFF_DELAY_OPTIONS } from "../src/rxjs/backoff-delay.ts";
import { POLL_BACKOFF_OPTIONS } from "../src/rxjs/poll-backoff.ts";
import { REPEAT_BACKOFF_OPTIONS } from "../src/rxjs/repeat-backoff.ts";
import { RETRY_BACKOFF_OPTIONS } from "../src/rxjs/retry-backoff.ts";
import { GRPC_BACKOFF_OPTIONS } from "../src/strategies/grpc-backoff.ts";
import { FURTHER_STRATEGIES, jitterForm } from "./strategies.ts";

const clock = new FakeClock();
const { signal: live } = new AbortController();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};
const duration = 1;
const strategy = { delayFunc: () => () => 1 };
const manager = backoffManager(strategy, { clock });

/** A number, or the name of a form. */
const backoffOptions: Kind = optionsOf(BACKOFF_OPTIONS, { jitterForm });

/** The options of a `Backoff`, where a strategy is one step too far. */
const onlyBackoffOptions: Kind = (path, valid) =>
  all(backoffOptions, except(strategy, `TypeError: ${path} must be plain options, got a strategy`))(
    path,
    valid,
  );

const backoff: Kind = (path, valid) =>
  all(
    backoffOptions,
    except(
      { delayFunc: 1 },
      `TypeError: ${path} must have a method delayFunc(), got [object Object]`,
    ),
  )(path, valid);

/** As an AbortSignal, or null as in the options of `fetch`. */
const requestSignal: Kind = (path, valid) =>
  except(1, `TypeError: ${path} must be an AbortSignal, got 1`)(path, valid);

const own = {
  backoff,
  backoffOptions: onlyBackoffOptions,
  jitterForm,
  request: data<FetchRequest>({ headers: anyObject, signal: requestSignal }),
};
const options = <Type extends object>(kinds: Kinds<Type>): Kind => optionsOf(kinds, own);

const rootDoors: Door[] = [
  rejects(
    retry,
    [f, { clock, signal: live, backoff: { duration } }],
    ["fn", required(func)],
    ["options", options(RETRY_OPTIONS)],
  ),
  constructs(RetryBudget, [{}], ["options", options(RETRY_BUDGET_OPTIONS)]),
  rejects(
    poll,
    [f, { clock, signal: live, backoff: { duration } }],
    ["fn", required(func)],
    ["options", options(POLL_OPTIONS)],
  ),
  ...[true, false].map((sliding) => ({
    ...throws(
      every,
      [1, { clock, signal: live, sliding }],
      ["period", required(positive)],
      ["options", options(EVERY_OPTIONS)],
    ),
    name: sliding ? "every, sliding," : "every",
  })),
  rejects(
    withTimeout,
    [f, 1, { clock, signal: live }],
    ["work", required(func)],
    ["timeout", required(notNegative)],
    ["options", options(WITH_TIMEOUT_OPTIONS)],
  ),
  rejects(
    endsWithin,
    [f, 1, { clock }],
    ["work", required(func)],
    ["timeout", required(notNegative)],
    ["options", options(ENDS_WITHIN_OPTIONS)],
  ),
  throws(timeLeft, [live], ["signal", signal]),
  rejects(
    backoffUntil,
    [f, manager, true, live, {}],
    ["fn", required(func)],
    ["manager", required(methods("backoff"))],
    ["sliding", required(flag)],
    ["signal", required(signal)],
    ["options", options(LOOP_OPTIONS)],
  ),
  rejects(
    loop,
    [{ run: f, signal: AbortSignal.abort(), delay: () => 1, clock }],
    ["options", required(options(LOOP))],
  ),
  constructs(
    Deadline,
    [1, { clock }],
    ["timeout", required(notNegative)],
    ["options", optionsOf(DEADLINE_OPTIONS, { stringOrFunc: string })],
  ),
  throws(
    strategyOf,
    ["backoff", { duration }],
    ["name", unchecked],
    ["backoff", required(backoffOptions)],
  ),
  throws(
    backoffManager,
    [strategy, { clock }],
    ["strategy", required(methods("delayFunc"))],
    ["options", options(BACKOFF_MANAGER_OPTIONS)],
  ),
  constructs(
    ExponentialBackoffManager,
    [{ duration, factor: 2, clock }],
    ["options", required(options(EXPONENTIAL_BACKOFF_MANAGER_OPTIONS))],
  ),
  constructs(
    JitteredBackoffManager,
    [{ duration, clock }],
    ["options", required(options(JITTERED_BACKOFF_MANAGER_OPTIONS))],
  ),
  constructs(Backoff, [{ duration }], ["options", required(onlyBackoffOptions)]),
  method(
    new Backoff({ duration }),
    "delayWithReset",
    "throws",
    [clock, 1],
    ["clock", required(methods("monotonic"))],
    ["resetInterval", required(finiteFrom(0))],
  ),
  ...[jitter, Jitter].map((spread) =>
    throws(
      spread,
      [1, 1],
      ["duration", required(finiteFrom(0))],
      ["maxFactor", required(finiteFrom(0))],
      ["random", func],
    ),
  ),
  throws(seededRandom, [1], ["seed", required(finite)]),
  constructs(
    RetryAfterError,
    [1],
    ["after", required(milliseconds)],
    ["options", options(RETRY_AFTER_ERROR_OPTIONS)],
  ),
  constructs(
    TimeoutError,
    [1],
    ["timeout", unchecked],
    ["options", options(TIMEOUT_ERROR_OPTIONS)],
  ),
  constructs(
    TerminalError,
    ["no such page"],
    ["message", unchecked],
    ["options", options(ERROR_OPTIONS)],
  ),
  constructs(ExhaustedError, [1], ["attempts", unchecked], ["options", options(ERROR_OPTIONS)]),
  throws(parseRetryAfter, ["1", clock], ["value", unchecked], ["clock", methods("now")]),
  rejects(
    expectOk,
    [new Response(), { clock, request: { headers: {} } }],
    [
      "response",
      all(
        except(null, "TypeError: response.headers must have a method get(), got undefined"),
        except(
          { headers: {} },
          "TypeError: response.headers must have a method get(), got [object Object]",
        ),
      ),
    ],
    ["options", options(EXPECT_OK_OPTIONS)],
  ),
];

const connected = { clock, signal: live, backoff: { duration } };

const connectDoors: Door[] = [
  rejects(
    connectWithBackoff,
    [f, connected],
    ["connect", required(func)],
    ["options", required(options(CONNECT_OPTIONS))],
  ),
  rejects(
    keepConnected,
    [f, f, connected],
    ["connect", required(func)],
    ["use", required(func)],
    ["options", required(options(KEEP_CONNECTED_OPTIONS))],
  ),
];

const pollUntilOptions = options(POLL_UNTIL_OPTIONS);
const keyed = new KeyedBackoff({ duration, cap: 1, clock });
const group = new Group();

const goDoors: Door[] = [
  ...[until, nonSlidingUntil].map((subject) =>
    rejects(
      subject,
      [f, 1, live, { clock }],
      ["fn", required(func)],
      ["period", required(finiteFrom(0))],
      ["signal", required(signal)],
      ["options", options(PERIODIC_OPTIONS)],
    ),
  ),
  rejects(
    jitterUntil,
    [f, 1, live, { clock }],
    ["fn", required(func)],
    ["period", required(finiteFrom(0))],
    ["signal", required(signal)],
    ["options", options(JITTER_UNTIL_OPTIONS)],
  ),
  rejects(
    forever,
    [f, 1, { clock }],
    ["fn", required(func)],
    ["period", required(finiteFrom(0))],
    ["options", options(PERIODIC_OPTIONS)],
  ),
  rejects(
    pollUntil,
    [f, 1, { clock, signal: live }],
    ["condition", required(func)],
    ["interval", required(finiteFrom(0))],
    ["options", pollUntilOptions],
  ),
  rejects(
    delayUntil,
    [() => 1, f, { clock, signal: live }],
    ["delayFunc", required(func)],
    ["condition", required(func)],
    ["options", pollUntilOptions],
  ),
  rejects(
    exponentialBackoff,
    [f, { backoff: { duration }, clock, signal: live }],
    ["condition", required(func)],
    ["options", required(options(EXPONENTIAL_BACKOFF_OPTIONS))],
  ),
  rejects(
    onError,
    [{ duration }, Boolean, f, { clock, signal: live }],
    ["backoff", named("options.backoff", required(onlyBackoffOptions))],
    ["retriable", required(func)],
    ["fn", required(func)],
    ["options", options(ON_ERROR_OPTIONS)],
  ),
  rejects(
    retryOnConflict,
    [{ duration }, f, { clock, signal: live }],
    ["backoff", named("options.backoff", required(onlyBackoffOptions))],
    ["fn", required(func)],
    ["options", options(ON_ERROR_OPTIONS)],
  ),
  method(group, "start", "throws", [f], ["fn", required(func)]),
  method(
    group,
    "startWithSignal",
    "throws",
    [f, live],
    ["fn", required(func)],
    ["signal", required(signal)],
  ),
  constructs(
    KeyedBackoff,
    [{ duration, cap: 1, clock }],
    ["options", required(options(KEYED_BACKOFF_OPTIONS))],
  ),
  method(keyed, "next", "throws", ["a", 1], ["key", unchecked], ["at", instant]),
  method(
    keyed,
    "isInBackoffSince",
    "throws",
    ["a", 1],
    ["key", unchecked],
    ["at", required(instant)],
  ),
  method(keyed, "isInBackoffSinceUpdate", "throws", ["a", 1], ["key", unchecked], ["at", instant]),
];

const strategyDoors: Door[] = [
  ...FURTHER_STRATEGIES.map(({ Strategy, options, kind }) =>
    constructs(Strategy as new (options: object) => object, [options], ["options", kind]),
  ),
  throws(
    grpcBackoff,
    [0],
    ["retries", required(whole(0))],
    ["options", options(GRPC_BACKOFF_OPTIONS)],
  ),
  method(new AttemptBackoff(), "forAttempt", "throws", [1], ["attempt", required(whole(0))]),
  throws(expectedSlots, [1], ["collisions", required(whole(0))], ["backoffLimit", whole(0)]),
];

const notify = backoffDelay({ duration }, { clock });

const streamDoors: Door[] = [
  throws(
    retryBackoff,
    [{ backoff: { duration }, clock }],
    ["options", required(options(RETRY_BACKOFF_OPTIONS))],
  ),
  throws(
    repeatBackoff,
    [{ backoff: { duration }, clock }],
    ["options", required(options(REPEAT_BACKOFF_OPTIONS))],
  ),
  throws(
    pollBackoff,
    [f, { backoff: { duration }, clock }],
    ["until", required(func)],
    ["options", required(options(POLL_BACKOFF_OPTIONS))],
  ),
  throws(
    backoffDelay,
    [{ duration }, { clock }],
    ["backoff", required(backoff)],
    ["options", options(BACKOFF_DELAY_OPTIONS)],
  ),
  {
    ...throws(
      notify,
      [new Error("refused"), 1],
      ["error", unchecked],
      ["retryCount", required(whole(1))],
    ),
    name: "the notifier of backoffDelay",
  },
  throws(
    backoffUntil$,
    [f, () => manager, true, {}],
    ["fn", required(func)],
    ["newManager", required(func)],
    ["sliding", required(flag)],
    ["options", options(LOOP_OPTIONS)],
  ),
];

const doors = [...rootDoors, ...connectDoors, ...goDoors, ...strategyDoors, ...streamDoors];

testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
});

testEveryExport(
  new URL("../api/", import.meta.url),
  { index: root, connect, go, limit, loop: loops, strategies, rxjs },
  doors,
  [
    // In the table of clock.
    root.findError,
    // Guards answer for every value.
    isConflict,
    isInterrupted,
    // Errors that the library makes, or that say what they are given.
    ExcessiveCollisionsError,
    HttpError,
    // Made without arguments; its methods are doors.
    Group,
  ],
);

it("names an unknown option of a backoff by its whole path, and the likely one", async () => {
  const options = { backoff: { duration: 3, factr: 9 }, clock };
  await expect(retry(f, options as never)).rejects.toThrow(
    "options.backoff.factr is not an option of Backoff; did you mean options.backoff.factor?",
  );
});
