import { FakeClock } from "@holdfast/clock/testing";
import * as root from "@holdfast/controller";
import {
  type AddOptions,
  type AddRunnableOptions,
  Controller,
  type ControllerOptions,
  type DrainOptions,
  type EnqueueOptions,
  ExponentialLimiter,
  type ExponentialLimiterOptions,
  FastSlowLimiter,
  type FastSlowLimiterOptions,
  filterSource,
  fromCallback,
  fromIterable,
  fromObservable,
  type GroupOptions,
  LeaderElector,
  type LeaderElectorOptions,
  LeadershipLostError,
  LockConflictError,
  Manager,
  type ManagerOptions,
  MaxOfLimiter,
  type MaxOfLimiterOptions,
  MemoryLock,
  mapSource,
  type ResyncOptions,
  RetryAfterError,
  RunnableError,
  type RunnableErrorOptions,
  type RunOptions,
  resync,
  Shards,
  type ShardsOptions,
  slotOf,
  TerminalError,
  TokenBucketLimiter,
  type TokenBucketLimiterOptions,
  WorkQueue,
  type WorkQueueOptions,
} from "@holdfast/controller";
import * as fileLock from "@holdfast/controller/file-lock";
import { FileLock, type FileLockOptions } from "@holdfast/controller/file-lock";
import * as mysqlLock from "@holdfast/controller/mysql-lock";
import { MySqlLock, type MySqlLockOptions } from "@holdfast/controller/mysql-lock";
import * as opentelemetry from "@holdfast/controller/opentelemetry";
import { type TracedOptions, traced } from "@holdfast/controller/opentelemetry";
import * as postgresLock from "@holdfast/controller/postgres-lock";
import { PostgresLock, type PostgresLockOptions } from "@holdfast/controller/postgres-lock";
import * as prometheus from "@holdfast/controller/prometheus";
import { PrometheusMetrics, type PrometheusMetricsOptions } from "@holdfast/controller/prometheus";
import * as redisLock from "@holdfast/controller/redis-lock";
import {
  ForgottenLeaseError,
  RedisLock,
  type RedisLockOptions,
} from "@holdfast/controller/redis-lock";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import {
  above,
  all,
  arrayOf,
  constructs,
  type Door,
  delay,
  except,
  fields,
  finite,
  finiteFrom,
  flag,
  func,
  type Kind,
  method,
  methods,
  named,
  notNegative,
  object,
  outside,
  required,
  signal,
  string,
  testBadInput,
  testEveryExport,
  text,
  throws,
  unchecked,
  whole,
} from "../../../test/bad-input.ts";

const clock = new FakeClock();
const { signal: live } = new AbortController();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};
const queue = new WorkQueue({ clock });
const manager = new Manager({ clock, groups: [{ name: "a" }, { name: "b" }] });
const idle = { name: "idle", run: () => Promise.resolve() };
manager.add(idle);
const controller = new Controller({ name: "controller", reconcile: f, clock });
const electing = { lock: new MemoryLock(), identity: "a", lead: f, clock };
const elector = new LeaderElector(electing);
const sharding = { identity: "a", lockOf: () => new MemoryLock(), lead: f, clock };
const shards = new Shards(sharding);
const metrics = new PrometheusMetrics({ register: new Registry() });
const source = { name: "source", start: f };

const limiter = methods("when", "forget", "requeues");
const logger = methods("debug", "info", "warn", "error");
const queueMetrics = methods("depth", "added", "started", "finished", "retried", "watch");
const passive = methods("monotonic");
const finiteAbove0 = all(finite, outside("a number above 0", 0, -1));
const key = named("the key of an item", required(string));
const adding = { after: delay, priority: finite };
const bounds = { fast: 1, slow: 2, maxFast: 3, clock };

const queueDoors: Door[] = [
  constructs(
    WorkQueue,
    [{ clock }],
    [
      "options",
      object<WorkQueueOptions<string>>({
        name: text,
        keyOf: func,
        limiter,
        clock: methods("monotonic", "afterFunc"),
        metrics: queueMetrics,
        aging: above(0),
        fairBy: func,
      }),
    ],
  ),
  method(queue, "add", "throws", ["a"], ["item", key], ["options", object<AddOptions>(adding)]),
  method(
    queue,
    "retry",
    "throws",
    ["a"],
    ["item", key],
    ["options", object<Pick<AddOptions, "priority">>({ priority: finite })],
  ),
  method(queue, "get", "rejects", [live], ["signal", signal]),
  method(queue, "idle", "rejects", [live], ["signal", signal]),
  method(
    queue,
    "drain",
    "rejects",
    [{ signal: live }],
    ["options", object<DrainOptions>({ timeout: notNegative, signal })],
  ),
];

const tokens = new TokenBucketLimiter({ qps: 1, burst: 1, clock });
const exponential = new ExponentialLimiter({ clock });
const counting = [
  exponential,
  new FastSlowLimiter(bounds),
  tokens,
  new MaxOfLimiter([exponential], { clock }),
];

const limiterDoors: Door[] = [
  constructs(
    ExponentialLimiter,
    [{ clock }],
    [
      "options",
      object<ExponentialLimiterOptions>({
        duration: finiteFrom(0),
        factor: finiteFrom(1),
        cap: above(0),
        jitter: finiteFrom(0),
        expireAfter: notNegative,
        clock: passive,
        random: func,
      }),
    ],
  ),
  constructs(
    FastSlowLimiter,
    [bounds],
    [
      "options",
      required(
        object<FastSlowLimiterOptions>({
          fast: required(finiteFrom(0)),
          slow: required(finiteFrom(0)),
          maxFast: required(whole(0)),
          expireAfter: notNegative,
          clock: passive,
        }),
      ),
    ],
  ),
  constructs(
    TokenBucketLimiter,
    [{ qps: 1, burst: 1, clock }],
    [
      "options",
      required(
        object<TokenBucketLimiterOptions>({
          qps: required(above(0)),
          burst: required(whole(1)),
          cap: above(0),
          expireAfter: notNegative,
          clock: methods("monotonic", "afterFunc"),
        }),
      ),
    ],
  ),
  method(tokens, "acquire", "rejects", [live], ["signal", signal]),
  ...counting.map((each) =>
    method(each, "when", "throws", ["a"], ["key", unchecked], ["after", delay]),
  ),
  constructs(
    MaxOfLimiter,
    [[new ExponentialLimiter()], { clock }],
    [
      "limiters",
      all(
        required(arrayOf(limiter)),
        except([], "RangeError: limiters must contain at least one limiter"),
      ),
    ],
    [
      "options",
      object<MaxOfLimiterOptions>({ jitter: finiteFrom(0), clock: passive, random: func }),
    ],
  ),
];

const sourceDoors: Door[] = [
  throws(fromCallback, ["a", f], ["name", unchecked], ["subscribe", required(func)]),
  throws(fromIterable, ["a", f], ["name", unchecked], ["open", required(func)]),
  throws(
    fromObservable,
    ["a", { subscribe: f }],
    ["name", unchecked],
    ["observable", required(methods("subscribe"))],
  ),
  throws(filterSource, [source, f], ["source", unchecked], ["isWanted", required(func)]),
  throws(mapSource, [source, f], ["source", unchecked], ["targetsOf", required(func)]),
  throws(
    resync,
    [{ list: f, interval: 1 }],
    [
      "options",
      required(
        object<ResyncOptions<unknown>>({
          list: required(func),
          interval: required(finiteAbove0),
          jitter: finiteFrom(0),
          priority: finite,
          random: func,
        }),
      ),
    ],
  ),
];

const controllerDoors: Door[] = [
  constructs(
    Controller,
    [{ name: "a", reconcile: f, clock }],
    [
      "options",
      required(
        object<ControllerOptions>({
          name: required(text),
          reconcile: required(func),
          sources: arrayOf(methods("start")),
          keyOf: func,
          workers: all(finite, outside("a whole number of at least 1", 0, 1.5)),
          limiter,
          timeout: above(0),
          abortGrace: notNegative,
          grace: notNegative,
          retries: whole(0),
          maxRetryAfter: notNegative,
          onGiveUp: func,
          onError: func,
          aging: above(0),
          fairBy: func,
          clock: methods("now", "monotonic", "afterFunc"),
          random: func,
          logger,
          metrics: methods("reconciled", "activeWorkers", "maxWorkers"),
          queueMetrics,
        }),
      ),
    ],
  ),
  method(
    controller,
    "add",
    "throws",
    ["a"],
    ["item", key],
    ["options", object<EnqueueOptions>({ ...adding, reason: unchecked })],
  ),
  method(
    controller,
    "addSource",
    "throws",
    [source, live],
    ["source", required(methods("start"))],
    ["signal", signal],
  ),
  method(
    controller,
    "run",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    [
      "options",
      object<RunOptions>({
        leadership: unchecked,
        ref: flag,
        shards: methods("slotOf", "join"),
        stopWithin: func,
      }),
    ],
  ),
];

const tableError = (path: string, got: string): string =>
  `RangeError: ${path} must be lower case letters, digits and underscores, at most 63, after a schema and a dot if any, got ${got}`;

/** A part of SQL that is never quoted. */
const table: Kind = (path, valid) => [
  ...string(path, valid),
  ...["", "Lock", "1a", "a-b", "a.b.c", "a.", 'a"; DROP TABLE b; --', "$$", "x".repeat(64)].map(
    (value) => ({ path, value, error: tableError(path, JSON.stringify(value.slice(0, 60))) }),
  ),
];

/** A text that a database stores unchanged. */
const stored: Kind = (path, valid) => [
  ...["a\0b", "a\ud800b"].flatMap((value) =>
    except(value, `RangeError: ${path} must be well-formed Unicode without NUL`)(path, valid),
  ),
  ...except("ü".repeat(128), `RangeError: ${path} must be at most 255 bytes of UTF-8, got 256`)(
    path,
    valid,
  ),
];

const sqlLock = {
  name: required(all(text, stored)),
  table,
  random: func,
};

const electionDurations = {
  leaseDuration: all(
    finite,
    except(
      10_000,
      "RangeError: options.leaseDuration must be above options.renewDeadline (10000), got 10000",
    ),
  ),
  renewDeadline: all(
    finite,
    except(
      2_400,
      "RangeError: options.renewDeadline must be above 1.2 times options.retryPeriod (2400), got 2400",
    ),
  ),
  retryPeriod: finiteAbove0,
};

const electionDoors: Door[] = [
  constructs(
    LeaderElector,
    [electing],
    [
      "options",
      required(
        object<LeaderElectorOptions>({
          name: text,
          lock: required(methods("get", "create", "update")),
          identity: required(text),
          lead: required(func),
          ...electionDurations,
          once: flag,
          onNewLeader: func,
          onError: func,
          clock: methods("now", "monotonic", "afterFunc", "newTimer"),
          logger,
          random: func,
        }),
      ),
    ],
  ),
  method(
    elector,
    "run",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    [
      "options",
      object<RunOptions>({
        leadership: unchecked,
        ref: flag,
        shards: methods("slotOf", "join"),
        stopWithin: func,
      }),
    ],
  ),
  throws(
    slotOf,
    ["a", 16],
    ["key", required(text)],
    ["count", required(all(whole(1), outside("a number from 1 to 1024", 1_025)))],
  ),
  constructs(
    Shards,
    [sharding],
    [
      "options",
      required(
        object<ShardsOptions>({
          name: text,
          count: all(whole(1), outside("a number from 1 to 1024", 1_025)),
          identity: required(text),
          lockOf: required(func),
          lead: func,
          ...electionDurations,
          onError: func,
          clock: methods("now", "monotonic", "afterFunc", "newTimer"),
          logger,
          random: func,
        }),
      ),
    ],
  ),
  throws((key: string) => shards.slotOf(key), ["a"], ["key", required(text)]),
  method(
    shards,
    "run",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    [
      "options",
      object<RunOptions>({
        leadership: unchecked,
        ref: flag,
        shards: methods("slotOf", "join"),
        stopWithin: func,
      }),
    ],
  ),
  constructs(
    FileLock,
    ["directory", {}],
    ["directory", required(text)],
    [
      "options",
      object<FileLockOptions>({
        clock: methods("monotonic", "newTimer", "afterFunc", "sleep"),
        random: func,
      }),
    ],
  ),
  constructs(
    PostgresLock,
    [{ query: async () => ({ rows: [] }) }, { name: "a" }],
    ["client", required(methods("query"))],
    ["options", required(object<PostgresLockOptions>(sqlLock))],
  ),
  throws(postgresLock.createTableSql, [], ["table", table]),
  constructs(
    MySqlLock,
    [{ execute: async () => [[], undefined] }, { name: "a" }],
    ["client", required(methods("execute"))],
    ["options", required(object<MySqlLockOptions>(sqlLock))],
  ),
  throws(mysqlLock.createTableSql, [], ["table", table]),
  constructs(
    RedisLock,
    [{ eval: async () => undefined }, { key: "key" }],
    ["client", required(methods("eval"))],
    [
      "options",
      required(object<RedisLockOptions>({ key: required(text), firstToken: func, random: func })),
    ],
  ),
];

const group = object<GroupOptions>({
  name: required(text),
  startTimeout: notNegative,
  stopTimeout: notNegative,
});

const managerDoors: Door[] = [
  constructs(
    Manager,
    [{ groups: [{ name: "a" }], clock }],
    [
      "options",
      object<ManagerOptions>({
        groups: all(
          arrayOf(group),
          except([], "RangeError: options.groups must contain at least one group, got none"),
          except(
            [{ name: "a" }, { name: "a" }],
            'RangeError: options.groups must have unique names, got "a" twice',
          ),
        ),
        stopTimeout: notNegative,
        signals: methods("on", "off", "exit"),
        clock: methods("monotonic", "afterFunc"),
        logger,
      }),
    ],
  ),
  method(
    manager,
    "add",
    "throws",
    [{ ...idle, name: "other" }],
    [
      "runnable",
      all(
        required(methods("run")),
        fields({
          name: all(
            required(text),
            except("idle", 'RangeError: runnable.name must be unique, got "idle" twice'),
          ),
        }),
      ),
    ],
    [
      "options",
      object<AddRunnableOptions>({
        group: except("c", 'RangeError: options.group must be "a" or "b", got "c"'),
      }),
    ],
  ),
  method(
    manager,
    "run",
    "rejects",
    [live, {}],
    ["signal", signal],
    [
      "options",
      object<RunOptions>({
        leadership: unchecked,
        ref: flag,
        shards: methods("slotOf", "join"),
        stopWithin: func,
      }),
    ],
  ),
];

const observing: Door[] = [
  constructs(
    PrometheusMetrics,
    [{ register: new Registry() }],
    [
      "options",
      object<PrometheusMetricsOptions>({ register: methods("registerMetric", "metrics") }),
    ],
  ),
  method(metrics, "queue", "throws", ["a"], ["name", required(text)]),
  method(metrics, "controller", "throws", ["a"], ["name", required(text)]),
  method(
    metrics,
    "leadership",
    "throws",
    ["a", elector],
    ["name", required(text)],
    ["candidate", unchecked],
  ),
  throws(
    traced,
    [f, { tracer: { startActiveSpan: f } }],
    ["reconcile", required(func)],
    [
      "options",
      required(
        object<TracedOptions>({
          tracer: required(methods("startActiveSpan")),
          name: unchecked,
          attributes: unchecked,
        }),
      ),
    ],
  ),
];

const errorDoors = [
  constructs(
    RunnableError,
    ["web", "failed"],
    ["runnable", unchecked],
    ["problem", unchecked],
    ["options", object<RunnableErrorOptions>({ cause: unchecked, timeout: delay })],
  ),
];

const doors = [
  ...errorDoors,
  ...queueDoors,
  ...limiterDoors,
  ...sourceDoors,
  ...controllerDoors,
  ...electionDoors,
  ...managerDoors,
  ...observing,
];

testBadInput(doors, () => {
  expect(manager.status()).toEqual({
    state: "idle",
    runnables: [{ name: "idle", group: "b", state: "waiting" }],
  });
  expect([queue.size, queue.delayed, queue.isShutDown]).toEqual([0, 0, false]);
  expect([controller.status().state, controller.status().queue.size]).toEqual(["idle", 0]);
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
});

testEveryExport(
  new URL("../api/", import.meta.url),
  {
    index: root,
    "file-lock": fileLock,
    "postgres-lock": postgresLock,
    "mysql-lock": mysqlLock,
    "redis-lock": redisLock,
    prometheus,
    opentelemetry,
  },
  doors,
  [
    // Guards answer for every value.
    // Errors; those of `wait` are in its table.
    ForgottenLeaseError,
    LeadershipLostError,
    LockConflictError,
    RetryAfterError,
    TerminalError,
    // Takes no arguments, or what the controller makes.
    MemoryLock,
  ],
);

it("treats an explicit undefined as a missing option", () => {
  const undef = undefined;
  expect(() => {
    new WorkQueue({ name: undef, keyOf: undef, limiter: undef, clock: undef, metrics: undef });
    new ExponentialLimiter({ duration: undef, cap: undef, random: undef });
    new MaxOfLimiter([exponential], { jitter: undef, clock: undef });
    new Manager({ groups: undef, signals: undef, clock: undef, logger: undef });
    new Manager({ groups: [{ name: "a", startTimeout: undef, stopTimeout: undef }] });
    new Manager().add(idle, { group: undef });
    queue.add("a", { after: undef, priority: undef });
  }).not.toThrow();
});

it("suggests workers to a controller with concurrency", () => {
  const options = { name: "a", reconcile: f, clock, concurrency: 4 };
  expect(() => new Controller(options)).toThrow(
    "options.concurrency is not an option of Controller; did you mean options.workers?",
  );
});
