import { FakeClock } from "@holdfast/clock/testing";
import {
  backoffDelay,
  backoffUntil$,
  pollBackoff,
  repeatBackoff,
  retryBackoff,
} from "@holdfast/wait/rxjs";
import { expect, it } from "vitest";

const clock = new FakeClock();
const f = () => {
  throw new Error("a call with bad arguments must not get this far");
};
const backoff = { duration: 1 };
const notify = backoffDelay(backoff, { clock });

const doors = { backoffDelay, backoffUntil$, notify, pollBackoff, repeatBackoff, retryBackoff };

/** The door, what is handed in, and the whole of the error. */
const rows: readonly (readonly [keyof typeof doors, readonly unknown[], Error])[] = [
  ...(["retryBackoff", "repeatBackoff"] as const).flatMap(
    (door) =>
      [
        [door, [], new TypeError("options must be an object, got undefined")],
        [door, [{ clock }], new TypeError("options.backoff must be an object, got undefined")],
        [
          door,
          [{ backoff: 100, clock }],
          new TypeError("options.backoff must be an object, got 100"),
        ],
        [
          door,
          [{ backoff: { duration: 1, factor: 0 }, clock }],
          new RangeError("options.backoff.factor must be a finite number above 0, got 0"),
        ],
        [
          door,
          [{ backoff: { delayFunc: 1 }, clock }],
          new TypeError("options.backoff must have a method delayFunc(), got [object Object]"),
        ],
        [
          door,
          [{ backoff, maxElapsed: -1, clock }],
          new RangeError("options.maxElapsed must be a number of at least 0, got -1"),
        ],
        [
          door,
          [{ backoff, maxElapsed: Number.NaN, clock }],
          new RangeError("options.maxElapsed must be a number of at least 0, got NaN"),
        ],
        [
          door,
          [{ backoff, resetOnSuccess: 1, clock }],
          new TypeError("options.resetOnSuccess must be true or false, got 1"),
        ],
        [
          door,
          [{ backoff, clock: {} }],
          new TypeError("options.clock must have a method monotonic(), got [object Object]"),
        ],
        [
          door,
          [{ backoff, clock: { monotonic: f } }],
          new TypeError("options.clock must have a method afterFunc(), got [object Object]"),
        ],
      ] as const,
  ),
  [
    "retryBackoff",
    [{ backoff, retries: -1, clock }],
    new RangeError("options.retries must be a whole number of at least 0, got -1"),
  ],
  [
    "retryBackoff",
    [{ backoff, retries: "3", clock }],
    new TypeError('options.retries must be a whole number of at least 0, got "3"'),
  ],
  ...(["shouldRetry", "delay", "onRetry"] as const).map(
    (hook) =>
      [
        "retryBackoff",
        [{ backoff, [hook]: 5, clock }],
        new TypeError(`options.${hook} must be a function, got 5`),
      ] as const,
  ),
  [
    "repeatBackoff",
    [{ backoff, repeats: 1.5, clock }],
    new RangeError("options.repeats must be a whole number of at least 0, got 1.5"),
  ],

  ["pollBackoff", [], new TypeError("until must be a function, got undefined")],
  ["pollBackoff", [f], new TypeError("options must be an object, got undefined")],
  [
    "pollBackoff",
    [f, { clock }],
    new TypeError("options.backoff must be an object, got undefined"),
  ],
  [
    "pollBackoff",
    [f, { backoff, timeout: -1, clock }],
    new RangeError("options.timeout must be a number of at least 0, got -1"),
  ],
  [
    "pollBackoff",
    [f, { backoff, timeout: "1s", clock }],
    new TypeError('options.timeout must be a number of at least 0, got "1s"'),
  ],
  [
    "pollBackoff",
    [f, { backoff, clock: { monotonic: f, afterFunc: f } }],
    new TypeError("options.clock must have a method now(), got [object Object]"),
  ],

  ["backoffDelay", [], new TypeError("backoff must be an object, got undefined")],
  ["backoffDelay", [backoff, null], new TypeError("options must be an object, got null")],
  [
    "backoffDelay",
    [backoff, { clock: {} }],
    new TypeError("options.clock must have a method afterFunc(), got [object Object]"),
  ],
  [
    "notify",
    [new Error("refused")],
    new TypeError("retryCount must be a whole number of at least 1, got undefined"),
  ],
  [
    "notify",
    [new Error("refused"), 0],
    new RangeError("retryCount must be a whole number of at least 1, got 0"),
  ],

  ["backoffUntil$", [], new TypeError("fn must be a function, got undefined")],
  [
    "backoffUntil$",
    [f, { backoff: f }, true],
    new TypeError("newManager must be a function, got [object Object]"),
  ],
  ["backoffUntil$", [f, f], new TypeError("sliding must be true or false, got undefined")],
  ["backoffUntil$", [f, f, true, null], new TypeError("options must be an object, got null")],
  [
    "backoffUntil$",
    [f, f, true, { onError: 1 }],
    new TypeError("options.onError must be a function, got 1"),
  ],
];

it.each(rows.map((row) => [`${row[0]}: ${row[2].message}`, row] as const))(
  "%s",
  (_title, [door, args, error]) => {
    expect(() => Reflect.apply(doors[door], undefined, args) as unknown).toThrow(error);
    expect(clock.waiters()).toBe(0);
  },
);
