import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, type RunOptions } from "@holdfast/controller";
import * as root from "@holdfast/outbox";
import {
  delayAfter,
  type ListDeadLettersOptions,
  type Message,
  type MessageHeaders,
  type NewMessage,
  Outbox,
  type OutboxOptions,
  Recovery,
  type RecoveryOptions,
  Relay,
  type RelayOptions,
  Retention,
  type RetentionOptions,
  type Schedule,
  StaleFenceError,
  type TaskOptions,
} from "@holdfast/outbox";
import * as mysql from "@holdfast/outbox/mysql";
import { MySqlDatabase, MySqlStore, type MySqlStoreOptions } from "@holdfast/outbox/mysql";
import * as pglite from "@holdfast/outbox/pglite";
import { PGliteDatabase } from "@holdfast/outbox/pglite";
import * as postgres from "@holdfast/outbox/postgres";
import {
  type MigrateOptions,
  migrate,
  PgDatabase,
  PostgresStore,
  type PostgresStoreOptions,
} from "@holdfast/outbox/postgres";
import * as testing from "@holdfast/outbox/testing";
import {
  faultyStore,
  MemoryStore,
  type MemoryStoreOptions,
  MemoryTransaction,
  RecordingPublisher,
  type RecordingPublisherOptions,
  type StoreFaults,
} from "@holdfast/outbox/testing";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import {
  all,
  arrayOf,
  constructs,
  type Door,
  data,
  except,
  finite,
  finiteFrom,
  flag,
  func,
  type Kind,
  method,
  methods,
  notNegative,
  object,
  outside,
  positive,
  rejects,
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
import { idOf, sample } from "./sample.ts";

const clock = new FakeClock();
const { signal: live } = new AbortController();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};

/** A text that a database and a broker store as it is. */
const stored: Kind = (path, valid) => [
  ...string(path, valid),
  ...except("a\0b", `RangeError: ${path} must not contain NUL`)(path, valid),
  ...except("a\ud800b", `RangeError: ${path} must be well-formed Unicode, got a lone surrogate`)(
    path,
    valid,
  ),
  ...except("ü".repeat(128), `RangeError: ${path} must be at most 255 bytes of UTF-8, got 256`)(
    path,
    valid,
  ),
];
const storedName = all(text, stored);

const prefixError = (path: string, got: string): string =>
  `RangeError: ${path} must be 1 to 30 lower case letters and underscores, got ${got}`;

/** A part of SQL that is never quoted. */
const prefix: Kind = (path, valid) => [
  ...string(path, valid),
  ...["", "Outbox", "a1", "a-b", 'a"; DROP TABLE orders; --', "x".repeat(31), "ü"].map((value) => ({
    path,
    value,
    error: prefixError(path, JSON.stringify(value)),
  })),
];

const order: Kind = (path) =>
  [null, 5, "random", "BUSINESSKEY"].map((value) => ({
    path,
    value,
    error: `RangeError: ${path} must be "none" or "key"`,
  }));

const aWhole = all(finite, outside("a whole number of at least 1", 0, 1.5));

const memory = new MemoryStore();
const taskKinds = {
  name: required(storedName),
  storeTimeout: positive,
  jitter: notNegative,
  onEvent: func,
  logger: methods("debug", "info", "warn", "error"),
  clock: methods("monotonic", "newTimer", "afterFunc", "sleep"),
  random: func,
} satisfies { readonly [Key in keyof Required<TaskOptions>]: Kind };
const lockedKinds = {
  ...taskKinds,
  lock: required(methods("get", "create", "update")),
  interval: positive,
  acquireTimeout: positive,
  leaseDuration: positive,
};

const task = { name: "a", clock };
const locked = { ...task, store: memory, lock: new MemoryLock() };
const publisher = { publish: f, async [Symbol.asyncDispose]() {} };
const relaying = { ...task, store: memory, publisher };
const relay = new Relay(relaying);
const recovery = new Recovery(locked);
const retention = new Retention(locked);
const outbox = new Outbox<MemoryTransaction>({
  store: memory,
  transaction: (work) => memory.transaction(work),
  clock,
});
const database = { query: f, transaction: f, async [Symbol.asyncDispose]() {} };
const sql = new PostgresStore(database);
const sqlOutbox = new Outbox({ store: sql, clock });
const pool = { query: f, connect: f, end: f, on: () => undefined };

const uuid: Kind = all(string, (path) =>
  ["", "1", `${idOf(1)}0`].map((value) => ({
    path,
    value,
    error: `RangeError: ${path} must be a UUID`,
  })),
);

const JSON_ONLY = "a JSON value";
const newMessage = data<NewMessage>({
  id: uuid,
  topic: required(storedName),
  key: required(storedName),
  headers: data<MessageHeaders>({}),
  payload: all(
    ...[undefined, f, Symbol("s"), 1n].map((value) =>
      except(value, `RangeError: message.payload must be ${JSON_ONLY}`),
    ),
    except(
      "x".repeat(9_000_000),
      "RangeError: message.payload must be at most 8388608 bytes of UTF-8, got 9000002",
    ),
  ),
  maxAttempts: all(
    outside("a whole number of at least 1", 0, 1.5, Number.NaN),
    outside("a number from 1 to 1000000", 1_000_001, Number.POSITIVE_INFINITY),
  ),
  initialDelay: outside("a number from 0 to 3153600000000", -1, Number.NaN, 3.2e12),
  factor: outside("a finite number of at least 1", 0.5, Number.NaN),
});
const message = sample(1, { maxAttempts: 5, initialDelay: 10, factor: 2 });

const selection: Kind = (path) => [
  ...[undefined, null, 5, "some", {}, { ids: [], topic: "a" }].map((value) => ({
    path,
    value,
    error: `TypeError: ${path} must be { ids }, { topic } or "all"`,
  })),
  ...arrayOf(uuid)(`${path}.ids`, []).map((each) => ({
    ...each,
    path,
    value: { ids: each.value },
  })),
  ...storedName(`${path}.topic`, "a").map((each) => ({
    ...each,
    path,
    value: { topic: each.value },
  })),
];

const transaction: Kind = (path) =>
  [undefined, null, 5, "a"].map((value) => ({
    path,
    value,
    error: `TypeError: ${path} must be a transaction object, got ${value}`,
  }));

const outboxDoors: Door[] = [
  constructs(
    Outbox,
    [{ store: memory }],
    [
      "options",
      required(
        object<OutboxOptions<object>>({
          store: required(methods("save")),
          transaction: func,
          onCommitted: func,
          clock: methods("monotonic", "newTimer", "afterFunc", "sleep"),
        }),
      ),
    ],
  ),
  method(outbox, "transaction", "rejects", [f], ["work", required(func)]),
  method(
    outbox,
    "save",
    "rejects",
    [new MemoryTransaction(), message],
    ["tx", transaction],
    ["message", required(newMessage)],
  ),
  method(outbox, "committed", "throws", [{}], ["tx", transaction]),
  method(
    outbox.deadLetters,
    "list",
    "rejects",
    [{ after: { id: idOf(1), updatedAt: 0 } }],
    [
      "options",
      object<ListDeadLettersOptions>({
        topic: storedName,
        after: data<Pick<Message, "id" | "updatedAt">>({
          id: required(uuid),
          updatedAt: required(finite),
        }),
        limit: all(
          aWhole,
          except(10_001, "RangeError: options.limit must be at most 10000, got 10001"),
        ),
      }),
    ],
  ),
  method(outbox.deadLetters, "replay", "rejects", ["all"], ["selection", selection]),
  method(outbox.deadLetters, "discard", "rejects", ["all"], ["selection", selection]),
  method(
    sqlOutbox,
    "statements",
    "throws",
    [{}, message],
    ["tx", transaction],
    ["message", required(newMessage)],
  ),
];

const taskDoors: Door[] = [
  constructs(
    Relay,
    [relaying],
    [
      "options",
      required(
        object<RelayOptions>({
          ...taskKinds,
          store: required(methods("claim", "nextDue", "write")),
          publisher: required(methods("publish")),
          workers: aWhole,
          topics: all(
            arrayOf(storedName),
            except([], "RangeError: options.topics must have at least one topic"),
          ),
          topicWorkers: aWhole,
          publishTimeout: all(
            positive,
            except(
              55_000,
              "RangeError: options.claimDuration must be above publishTimeout plus clockSkew, 60000, got 60000",
            ),
          ),
          claimDuration: all(
            positive,
            except(
              20_000,
              "RangeError: options.claimDuration must be above publishTimeout plus clockSkew, 20000, got 20000",
            ),
          ),
          clockSkew: finiteFrom(0),
          pollInterval: positive,
          listen: flag,
          grace: notNegative,
        }),
      ),
    ],
  ),
  constructs(
    Recovery,
    [locked],
    [
      "options",
      required(
        object<RecoveryOptions>({
          ...lockedKinds,
          store: required(methods("expired", "recover")),
          fence: storedName,
          minRound: finiteFrom(0),
          batch: aWhole,
        }),
      ),
    ],
  ),
  constructs(
    Retention,
    [locked],
    [
      "options",
      required(
        object<RetentionOptions>({
          ...lockedKinds,
          store: required(methods("removeDelivered")),
          olderThan: positive,
          batch: aWhole,
        }),
      ),
    ],
  ),
  ...[recovery, retention].map((each) =>
    method(each, "run", "rejects", [live], ["signal", required(signal)]),
  ),
  method(
    relay,
    "run",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    [
      "options",
      object<RunOptions>({
        leadership: unchecked,
        ref: unchecked,
        shards: unchecked,
        stopWithin: func,
      }),
    ],
  ),
  throws(
    delayAfter,
    [1, message],
    ["failures", required(whole(1))],
    [
      "schedule",
      required(
        data<Schedule>({
          initialDelay: required(notNegative),
          factor: required(finiteFrom(1)),
        }),
      ),
    ],
  ),
];

const postgresDoors: Door[] = [
  constructs(
    PgDatabase,
    [pool as never],
    ["pool", required(methods("connect", "query", "on", "end"))],
    ["onError", func],
  ),
  constructs(
    PGliteDatabase,
    [{ query: f, transaction: f, listen: f, close: f } as never],
    ["pglite", required(methods("query", "transaction", "listen", "close"))],
  ),
  rejects(
    migrate,
    [database],
    ["database", required(methods("query", "transaction"))],
    ["options", object<MigrateOptions>({ prefix })],
  ),
  constructs(
    PostgresStore,
    [database],
    ["database", required(methods("query", "transaction"))],
    ["options", object<PostgresStoreOptions>({ prefix, order })],
  ),
];

const mysqlDatabase = { ...database, readCommitted: f, session: f };
const mysqlPool = { query: f, execute: f, getConnection: f, end: f, on: () => undefined };

const mysqlDoors: Door[] = [
  constructs(
    MySqlDatabase,
    [mysqlPool],
    ["pool", required(methods("getConnection", "query", "execute", "on", "end"))],
    ["onError", func],
  ),
  rejects(
    mysql.migrate,
    [mysqlDatabase],
    ["database", required(methods("session"))],
    ["options", object<MigrateOptions>({ prefix })],
  ),
  constructs(
    MySqlStore,
    [mysqlDatabase],
    ["database", required(methods("query", "transaction", "readCommitted"))],
    ["options", object<MySqlStoreOptions>({ prefix, order, clock: taskKinds.clock })],
  ),
];

const testingDoors: Door[] = [
  constructs(MemoryStore, [], ["options", object<MemoryStoreOptions>({ order })]),
  constructs(
    RecordingPublisher,
    [{}],
    [
      "options",
      object<RecordingPublisherOptions>({
        respond: func,
        delay: finiteFrom(0),
        clock: taskKinds.clock,
      }),
    ],
  ),
  throws(
    faultyStore<MemoryStore>,
    [memory, {}],
    ["store", required(methods("save", "claim"))],
    ["faults", required(object<StoreFaults>({ before: func, after: func, failed: func }))],
  ),
];

const doors = [...outboxDoors, ...taskDoors, ...postgresDoors, ...mysqlDoors, ...testingDoors];

testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
  expect(relay.status()).toEqual({ state: "new", attempts: 0, waiting: 0, unwritten: 0 });
});

testEveryExport(
  new URL("../api/", import.meta.url),
  { index: root, testing, postgres, pglite, mysql },
  doors,
  [
    // The guard is right for every value; the error takes what a store makes.
    StaleFenceError,
    // Made by a MemoryStore.
    MemoryTransaction,
  ],
);

it("treats an explicit undefined as a missing option", () => {
  const undef = undefined;
  expect(() => {
    new Outbox({ store: memory, transaction: undef, onCommitted: undef, clock: undef });
    new Relay({ ...relaying, workers: undef, listen: undef, logger: undef, random: undef });
    new Recovery({ ...locked, fence: undef, minRound: undef, batch: undef, interval: undef });
    new Retention({ ...locked, olderThan: undef, batch: undef, leaseDuration: undef });
    new PostgresStore(database, { prefix: undef, order: undef });
    new MemoryStore({ order: undef });
  }).not.toThrow();
});
