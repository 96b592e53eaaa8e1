import { FakeClock } from "@holdfast/clock/testing";
import * as root from "@holdfast/wait";
import {
  Backoff,
  type BackoffManagerOptions,
  type BackoffOptions,
  backoffManager,
  backoffUntil,
  type ConnectOptions,
  connectWithBackoff,
  type EveryOptions,
  type ExpectOkOptions,
  ExponentialBackoffManager,
  type ExponentialBackoffManagerOptions,
  every,
  expectOk,
  type FetchRequest,
  HttpError,
  Jitter,
  JitteredBackoffManager,
  type JitteredBackoffManagerOptions,
  jitter,
  type KeepConnectedOptions,
  keepConnected,
  type LoopOptions,
  type PollOptions,
  parseRetryAfter,
  poll,
  RetryAfterError,
  type RetryAfterErrorOptions,
  RetryBudget,
  type RetryBudgetOptions,
  type RetryOptions,
  retry,
  seededRandom,
  TerminalError,
  TimeoutError,
  type TimeoutErrorOptions,
  type WithTimeoutOptions,
  withTimeout,
} from "@holdfast/wait";
import * as go from "@holdfast/wait/go";
import {
  delayUntil,
  ExhaustedError,
  type ExponentialBackoffOptions,
  exponentialBackoff,
  forever,
  Group,
  isConflict,
  isInterrupted,
  type JitterUntilOptions,
  jitterUntil,
  KeyedBackoff,
  type KeyedBackoffOptions,
  nonSlidingUntil,
  type OnErrorOptions,
  onError,
  type PeriodicOptions,
  type PollUntilOptions,
  pollUntil,
  retryOnConflict,
  until,
} from "@holdfast/wait/go";
import * as rxjs from "@holdfast/wait/rxjs";
import {
  type BackoffDelayOptions,
  backoffDelay,
  backoffUntil$,
  type PollBackoffOptions,
  pollBackoff,
  type RepeatBackoffOptions,
  type RetryBackoffOptions,
  repeatBackoff,
  retryBackoff,
} from "@holdfast/wait/rxjs";
import * as strategies from "@holdfast/wait/strategies";
import {
  AttemptBackoff,
  ExcessiveCollisionsError,
  expectedSlots,
  type GrpcBackoffOptions,
  grpcBackoff,
} from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import {
  above,
  all,
  anyObject,
  between,
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
  object,
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
import { FURTHER_STRATEGIES, jitterForm } from "./strategies.ts";

const clock = new FakeClock();
const { signal: live } = new AbortController();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};
const duration = 1;
const strategy = { delayFunc: () => () => 1 };
const manager = backoffManager(strategy, { clock });

const loopClock = methods("monotonic", "newTimer", "afterFunc", "sleep");
const streamClock = methods("monotonic", "afterFunc");

/** A number, or the name of a form. */
const backoffOptions: Kind = object<BackoffOptions>({
  duration: required(finiteFrom(0)),
  factor: positive,
  jitter: jitterForm,
  steps: whole(0),
  cap: above(0),
  capAfterJitter: flag,
  random: func,
});

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

const rootDoors: Door[] = [
  rejects(
    retry,
    [f, { clock, signal: live, backoff: { duration } }],
    ["fn", required(func)],
    [
      "options",
      object<RetryOptions>({
        backoff,
        retries: whole(0),
        maxElapsed: notNegative,
        timeout: above(0),
        attemptTimeout: above(0),
        maxRetryAfter: notNegative,
        budget: methods("call", "reserve", "use"),
        signal,
        clock: loopClock,
        shouldRetry: func,
        delay: func,
        onRetry: func,
      }),
    ],
  ),
  constructs(
    RetryBudget,
    [{}],
    [
      "options",
      object<RetryBudgetOptions>({
        share: notNegative,
        minPerSecond: notNegative,
        window: positive,
        clock: methods("monotonic"),
      }),
    ],
  ),
  rejects(
    poll,
    [f, { clock, signal: live, backoff: { duration } }],
    ["fn", required(func)],
    [
      "options",
      object<PollOptions>({
        backoff,
        timeout: above(0),
        attemptTimeout: above(0),
        maxRetryAfter: notNegative,
        signal,
        clock: loopClock,
        onError: func,
      }),
    ],
  ),
  ...[true, false].map((sliding) => ({
    ...throws(
      every,
      [1, { clock, signal: live, sliding }],
      ["period", required(positive)],
      [
        "options",
        object<EveryOptions>({
          signal,
          clock: loopClock,
          jitter: finiteFrom(0),
          immediate: flag,
          sliding: flag,
          random: func,
        }),
      ],
    ),
    name: sliding ? "every, sliding," : "every",
  })),
  rejects(
    withTimeout,
    [f, 1, { clock, signal: live }],
    ["work", required(func)],
    ["timeout", required(notNegative)],
    [
      "options",
      object<WithTimeoutOptions<unknown>>({
        signal,
        clock: loopClock,
        label: unchecked,
        cause: func,
        message: string,
        onLate: func,
      }),
    ],
  ),
  rejects(
    backoffUntil,
    [f, manager, true, live, {}],
    ["fn", required(func)],
    ["manager", required(methods("backoff"))],
    ["sliding", required(flag)],
    ["signal", required(signal)],
    ["options", object<LoopOptions>({ onError: func })],
  ),
  throws(
    backoffManager,
    [strategy, { clock }],
    ["strategy", required(methods("delayFunc"))],
    ["options", object<BackoffManagerOptions>({ clock: loopClock })],
  ),
  constructs(
    ExponentialBackoffManager,
    [{ duration, factor: 2, clock }],
    [
      "options",
      required(
        object<ExponentialBackoffManagerOptions>({
          duration: required(finiteFrom(0)),
          factor: required(positive),
          cap: above(0),
          jitter: jitterForm,
          resetAfter: notNegative,
          clock: loopClock,
          random: func,
        }),
      ),
    ],
  ),
  constructs(
    JitteredBackoffManager,
    [{ duration, clock }],
    [
      "options",
      required(
        object<JitteredBackoffManagerOptions>({
          duration: required(finiteFrom(0)),
          jitter: jitterForm,
          clock: loopClock,
          random: func,
        }),
      ),
    ],
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
    ["options", object<RetryAfterErrorOptions>({ message: string, cause: unchecked })],
  ),
  constructs(
    TimeoutError,
    [1],
    ["timeout", unchecked],
    ["options", object<TimeoutErrorOptions>({ message: string, cause: unchecked })],
  ),
  constructs(
    TerminalError,
    ["no such page"],
    ["message", unchecked],
    ["options", object<ErrorOptions>({ cause: unchecked })],
  ),
  constructs(
    ExhaustedError,
    [1],
    ["attempts", unchecked],
    ["options", object<ErrorOptions>({ cause: unchecked })],
  ),
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
    [
      "options",
      object<ExpectOkOptions>({
        clock: methods("now", "afterFunc"),
        request: data<FetchRequest>({ headers: anyObject }),
        describe: func,
      }),
    ],
  ),
];

const connecting = {
  signal: required(signal),
  backoff,
  minConnectTimeout: notNegative,
  maxRetryAfter: notNegative,
  clock: loopClock,
  onRetry: func,
  onLate: func,
};
const connected = { clock, signal: live, backoff: { duration } };

const connectDoors: Door[] = [
  rejects(
    connectWithBackoff,
    [f, connected],
    ["connect", required(func)],
    ["options", required(object<ConnectOptions<unknown>>(connecting))],
  ),
  rejects(
    keepConnected,
    [f, f, connected],
    ["connect", required(func)],
    ["use", required(func)],
    [
      "options",
      required(
        object<KeepConnectedOptions<unknown>>({
          ...connecting,
          resetAfter: notNegative,
          random: func,
          onError: func,
        }),
      ),
    ],
  ),
];

const periodic = { clock: loopClock, onError: func };
const asking = { signal, onError: func, clock: loopClock };
const pollUntilOptions = object<PollUntilOptions>({
  ...asking,
  immediate: flag,
  sliding: flag,
  timeout: notNegative,
});
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
      ["options", object<PeriodicOptions>(periodic)],
    ),
  ),
  rejects(
    jitterUntil,
    [f, 1, live, { clock }],
    ["fn", required(func)],
    ["period", required(finiteFrom(0))],
    ["signal", required(signal)],
    [
      "options",
      object<JitterUntilOptions>({
        ...periodic,
        jitter: finiteFrom(0),
        sliding: flag,
        random: func,
      }),
    ],
  ),
  rejects(
    forever,
    [f, 1, { clock }],
    ["fn", required(func)],
    ["period", required(finiteFrom(0))],
    ["options", object<PeriodicOptions>(periodic)],
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
    [
      "options",
      required(
        object<ExponentialBackoffOptions>({ ...asking, backoff: required(onlyBackoffOptions) }),
      ),
    ],
  ),
  rejects(
    onError,
    [{ duration }, Boolean, f, { clock, signal: live }],
    ["backoff", named("options.backoff", required(onlyBackoffOptions))],
    ["retriable", required(func)],
    ["fn", required(func)],
    ["options", object<OnErrorOptions>({ signal, clock: loopClock })],
  ),
  rejects(
    retryOnConflict,
    [{ duration }, f, { clock, signal: live }],
    ["backoff", named("options.backoff", required(onlyBackoffOptions))],
    ["fn", required(func)],
    ["options", object<OnErrorOptions>({ signal, clock: loopClock })],
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
    [
      "options",
      required(
        object<KeyedBackoffOptions>({
          duration: required(finiteFrom(0)),
          cap: required(positive),
          jitter: finiteFrom(0),
          resetAfter: notNegative,
          clock: methods("monotonic"),
          random: func,
        }),
      ),
    ],
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

const grpcOptions = {
  duration: finiteFrom(0),
  factor: positive,
  jitter: between(0, 1),
  cap: above(0),
  capAfterJitter: flag,
  random: func,
};

const strategyDoors: Door[] = [
  ...FURTHER_STRATEGIES.map(({ Strategy, options, kind }) =>
    constructs(Strategy as new (options: object) => object, [options], ["options", kind]),
  ),
  throws(
    grpcBackoff,
    [0],
    ["retries", required(whole(0))],
    ["options", object<GrpcBackoffOptions>(grpcOptions)],
  ),
  method(new AttemptBackoff(), "forAttempt", "throws", [1], ["attempt", required(whole(0))]),
  throws(expectedSlots, [1], ["collisions", required(whole(0))], ["backoffLimit", whole(0)]),
];

const repeating = {
  backoff: required(backoff),
  maxElapsed: notNegative,
  resetOnSuccess: flag,
  clock: streamClock,
};
const notify = backoffDelay({ duration }, { clock });

const streamDoors: Door[] = [
  throws(
    retryBackoff,
    [{ backoff: { duration }, clock }],
    [
      "options",
      required(
        object<RetryBackoffOptions>({
          ...repeating,
          retries: whole(0),
          maxRetryAfter: notNegative,
          shouldRetry: func,
          delay: func,
          onRetry: func,
        }),
      ),
    ],
  ),
  throws(
    repeatBackoff,
    [{ backoff: { duration }, clock }],
    ["options", required(object<RepeatBackoffOptions>({ ...repeating, repeats: whole(0) }))],
  ),
  throws(
    pollBackoff,
    [f, { backoff: { duration }, clock }],
    ["until", required(func)],
    [
      "options",
      required(
        object<PollBackoffOptions>({
          backoff: required(backoff),
          timeout: notNegative,
          maxRetryAfter: notNegative,
          clock: methods("now", "monotonic", "afterFunc"),
        }),
      ),
    ],
  ),
  throws(
    backoffDelay,
    [{ duration }, { clock }],
    ["backoff", required(backoff)],
    [
      "options",
      object<BackoffDelayOptions>({ maxRetryAfter: notNegative, clock: methods("afterFunc") }),
    ],
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
    ["options", object<LoopOptions>({ onError: func })],
  ),
];

const doors = [...rootDoors, ...connectDoors, ...goDoors, ...strategyDoors, ...streamDoors];

testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
});

testEveryExport(new URL("../api/", import.meta.url), { index: root, go, strategies, rxjs }, doors, [
  // Guards answer for every value.
  isConflict,
  isInterrupted,
  // Errors that the library makes, or that say what they are given.
  ExcessiveCollisionsError,
  HttpError,
  // Made without arguments; its methods are doors.
  Group,
]);

it("names an unknown option of a backoff by its whole path, and the likely one", async () => {
  const options = { backoff: { duration: 3, factr: 9 }, clock };
  await expect(retry(f, options as never)).rejects.toThrow(
    "options.backoff.factr is not an option of Backoff; did you mean options.backoff.factor?",
  );
});
