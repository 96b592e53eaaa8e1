import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock } from "@holdfast/controller";
import type { Kinds } from "@holdfast/kit";
import * as root from "@holdfast/outbox";
import { type Message, Outbox, Recovery, Relay, Retention } from "@holdfast/outbox";
import * as mysql from "@holdfast/outbox/mysql";
import { MySqlDatabase, MySqlOutbox, MySqlStore } from "@holdfast/outbox/mysql";
import * as pglite from "@holdfast/outbox/pglite";
import { PGliteDatabase, PGliteOutbox } from "@holdfast/outbox/pglite";
import * as postgres from "@holdfast/outbox/postgres";
import { migrate, PgDatabase, PostgresOutbox, PostgresStore } from "@holdfast/outbox/postgres";
import * as store from "@holdfast/outbox/store";
import { delayAfter, type MessageHeaders, StaleFenceError } from "@holdfast/outbox/store";
import * as testing from "@holdfast/outbox/testing";
import {
  faultyStore,
  MemoryOutbox,
  MemoryStore,
  MemoryTransaction,
  RecordingPublisher,
} from "@holdfast/outbox/testing";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import {
  all,
  arrayOf,
  constructs,
  count,
  type Door,
  data,
  except,
  fields,
  finite,
  finiteFrom,
  func,
  type Kind,
  method,
  methods,
  notNegative,
  optionsOf,
  outside,
  rejects,
  required,
  signal,
  string,
  testBadInput,
  testEveryExport,
  text,
  throws,
  whole,
} from "../../../test/bad-input.ts";
import { CHANGE_DEAD_LETTERS_OPTIONS, LIST_DEAD_LETTERS_OPTIONS } from "../src/dead-letters.ts";
import { RECOVERY_OPTIONS } from "../src/maintenance/recovery.ts";
import { RETENTION_OPTIONS } from "../src/maintenance/retention.ts";
import { NEW_MESSAGE } from "../src/message/pending-message.ts";
import { MESSAGE_BACKOFF, MESSAGE_UNIQUE } from "../src/message/schedule.ts";
import { MY_SQL_OUTBOX_OPTIONS } from "../src/mysql/mysql-outbox.ts";
import { MY_SQL_STORE_OPTIONS } from "../src/mysql/mysql-store.ts";
import { OUTBOX_OPTIONS } from "../src/outbox.ts";
import { PGLITE_OUTBOX_OPTIONS } from "../src/pglite/pglite-outbox.ts";
import {
  POSTGRES_MIGRATE_OPTIONS,
  POSTGRES_MIGRATION_SQL_OPTIONS,
} from "../src/postgres/migrate.ts";
import { POSTGRES_OUTBOX_OPTIONS } from "../src/postgres/postgres-outbox.ts";
import { POSTGRES_STORE_OPTIONS } from "../src/postgres/postgres-store.ts";
import { RUN_OPTIONS } from "../src/relay/relay.ts";
import { BREAKER_OPTIONS, RELAY_OPTIONS } from "../src/relay/relay-options.ts";
import { MIGRATE_OPTIONS, MIGRATION_SQL_OPTIONS } from "../src/store/migration.ts";
import { STORE_FAULTS } from "../src/testing/faulty-store.ts";
import { MEMORY_OUTBOX_OPTIONS } from "../src/testing/memory-outbox.ts";
import { MEMORY_STORE_OPTIONS } from "../src/testing/memory-store.ts";
import { RECORDING_PUBLISHER_OPTIONS } from "../src/testing/recording-publisher.ts";
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
  `RangeError: ${path} must be 1 to 30 lower case letters, digits and underscores, not a digit first, got ${got}`;

/** A part of SQL that is never quoted. */
const prefix: Kind = (path, valid) => [
  ...string(path, valid),
  ...["", "Outbox", "1a", "a-b", 'a"; DROP TABLE orders; --', "x".repeat(31), "ü"].map((value) => ({
    path,
    value,
    error: prefixError(path, JSON.stringify(value)),
  })),
];

/** It is quoted, and ends no quotes. */
const schema: Kind = (path, valid) => [
  ...string(path, valid),
  ...["", 'a"b', "a.b", "a b", "x".repeat(64), "ü", "a'b", "a$b"].map((value) => ({
    path,
    value,
    error: `RangeError: ${path} must be 1 to 63 letters, digits, underscores and hyphens, got ${JSON.stringify(value)}`,
  })),
];

const order: Kind = (path) =>
  [null, 5, "random", "BUSINESSKEY"].map((value) => ({
    path,
    value,
    error: `RangeError: ${path} must be "none" or "key"`,
  }));

const memory = new MemoryStore();
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
const own = {
  storedName,
  uuid,
  tablePrefix: prefix,
  schemaName: schema,
  messageOrder: order,
  pageSize: all(count, (path, valid) =>
    except(10_001, `RangeError: ${path} must be at most 10000, got 10001`)(path, valid),
  ),
  after: data<Pick<Message, "id" | "updatedAt">>({
    id: required(uuid),
    updatedAt: required(finite),
  }),
  topics: all(
    arrayOf(storedName),
    except([], "RangeError: options.topics must have at least one topic"),
  ),
  publisher: all(methods("publish"), (path, valid) =>
    func(`${path}.publishMany`, undefined).map((mistake) => ({
      ...mistake,
      path,
      value: { ...(valid as object), publishMany: mistake.value },
    })),
  ),
  topicWorkers: (path: string) => [
    ...["1", 1n, true, Number.NaN, 0, 1.5].flatMap((value) =>
      count(path, 1).filter((mistake) => Object.is(mistake.value, value)),
    ),
    ...[null, [5], new Date(0)].map((value) => ({
      path,
      value,
      error: `TypeError: ${path} must be an object, got ${value === null ? "null" : Object.prototype.toString.call(value)}`,
    })),
    ...count(`${path}["a"]`, 1).map((mistake) => ({
      ...mistake,
      path,
      value: { a: mistake.value },
    })),
    ...[
      ["", `a topic of ${path} must be a non-empty string, got ""`],
      ["a\0b", `a topic of ${path} must not contain NUL`],
    ].map(([topic = "", text]) => ({ path, value: { [topic]: 1 }, error: `RangeError: ${text}` })),
  ],
  batchSize: all(count, outside("a number from 1 to 500", 501)),
  breaker: optionsOf(BREAKER_OPTIONS),
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
  messageBackoff: optionsOf(MESSAGE_BACKOFF),
  messageUnique: optionsOf(MESSAGE_UNIQUE, { storedName }),
  priority: all(whole(-2), outside("a number from -2 to 2", 3, Number.POSITIVE_INFINITY)),
  attempts: all(
    whole(1),
    outside("a number from 1 to 1000000", 1_000_001, Number.POSITIVE_INFINITY),
  ),
};
const options = <Type extends object>(kinds: Kinds<Type>): Kind => optionsOf(kinds, own);
const newMessage = options(NEW_MESSAGE);
const message = sample(1, {
  maxAttempts: 5,
  backoff: { duration: 10, factor: 2 },
  unique: { key: "a", within: 1 },
});

/** An array is a list of messages. */
const oneMessage: Kind = (path, valid) =>
  newMessage(path, valid).filter(({ value }) => !Array.isArray(value));

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

/** A transaction that may be left out. */
const openTransaction: Kind = (path, valid) =>
  transaction(path, valid).filter(({ value }) => value !== undefined);

const outboxDoors: Door[] = [
  constructs(Outbox, [{ store: memory }], ["options", required(options(OUTBOX_OPTIONS))]),
  method(outbox, "transaction", "rejects", [f], ["work", required(func)]),
  method(
    outbox,
    "save",
    "rejects",
    [new MemoryTransaction(), message],
    ["tx", transaction],
    ["message", required(oneMessage)],
  ),
  method(
    outbox,
    "cancel",
    "rejects",
    [idOf(1), new MemoryTransaction()],
    ["id", required(uuid)],
    ["tx", openTransaction],
  ),
  method(
    outbox,
    "once",
    "rejects",
    ["a", f, new MemoryTransaction()],
    ["key", required(storedName)],
    ["work", required(func)],
    ["tx", openTransaction],
  ),
  method(outbox, "committed", "throws", [{}], ["tx", transaction]),
  method(
    outbox.deadLetters,
    "list",
    "rejects",
    [{ after: { id: idOf(1), updatedAt: 0 } }],
    ["options", options(LIST_DEAD_LETTERS_OPTIONS)],
  ),
  method(
    outbox.deadLetters,
    "replay",
    "rejects",
    ["all", { portion: 1 }],
    ["selection", selection],
    ["options", options(CHANGE_DEAD_LETTERS_OPTIONS)],
  ),
  method(
    outbox.deadLetters,
    "discard",
    "rejects",
    ["all", { portion: 1 }],
    ["selection", selection],
    ["options", options(CHANGE_DEAD_LETTERS_OPTIONS)],
  ),
  method(
    sqlOutbox,
    "statements",
    "throws",
    [{}, message],
    ["tx", transaction],
    ["message", required(newMessage)],
  ),
];

const tooLong = (value: number, limits: string): Kind =>
  except(
    value,
    `RangeError: options.claimDuration must be above publishTimeout plus clockSkew, ${limits}`,
  );

const taskDoors: Door[] = [
  constructs(
    Relay,
    [relaying],
    [
      "options",
      required(
        all(
          options(RELAY_OPTIONS),
          fields({
            jitter: outside("a finite number of at least 0", Number.POSITIVE_INFINITY),
            publishTimeout: tooLong(55_000, "60000, got 60000"),
            claimDuration: tooLong(20_000, "20000, got 20000"),
          }),
        ),
      ),
    ],
  ),
  constructs(Recovery, [locked], ["options", required(options(RECOVERY_OPTIONS))]),
  constructs(Retention, [locked], ["options", required(options(RETENTION_OPTIONS))]),
  ...[recovery, retention].map((each) =>
    method(each, "run", "rejects", [live], ["signal", required(signal)]),
  ),
  method(
    relay,
    "run",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    ["options", options(RUN_OPTIONS)],
  ),
  throws(
    delayAfter,
    [1, { duration: 10, factor: 2, cap: 20 }],
    ["failures", required(whole(1))],
    [
      "backoff",
      required(
        data<Message["backoff"]>({
          duration: required(notNegative),
          factor: required(finiteFrom(1)),
          cap: required(notNegative),
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
    ["options", options(POSTGRES_MIGRATE_OPTIONS)],
  ),
  throws(
    postgres.migrationSql,
    [{ from: 1, lock: false }],
    ["options", options(POSTGRES_MIGRATION_SQL_OPTIONS)],
  ),
  constructs(
    PostgresStore,
    [database],
    ["database", required(methods("query", "transaction"))],
    ["options", options(POSTGRES_STORE_OPTIONS)],
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
    ["options", options(MIGRATE_OPTIONS)],
  ),
  throws(
    mysql.migrationSql,
    [{ from: 1, lock: false }],
    ["options", options(MIGRATION_SQL_OPTIONS)],
  ),
  constructs(
    MySqlStore,
    [mysqlDatabase],
    ["database", required(methods("query", "transaction", "readCommitted"))],
    ["options", options(MY_SQL_STORE_OPTIONS)],
  ),
];

const testingDoors: Door[] = [
  constructs(MemoryStore, [], ["options", options(MEMORY_STORE_OPTIONS)]),
  constructs(RecordingPublisher, [{}], ["options", options(RECORDING_PUBLISHER_OPTIONS)]),
  throws(
    faultyStore<MemoryStore>,
    [memory, {}],
    ["store", required(methods("save", "claim"))],
    ["faults", required(options(STORE_FAULTS))],
  ),
];

/** The outboxes with everything in them, each in its own kind of database. */
const pglite_ = { query: f, transaction: f, listen: f, close: f } as never;
const service = { name: "a", publisher, clock };
const inMemory = new MemoryOutbox(service);
const serviceDoors: Door[] = [
  constructs(
    PostgresOutbox,
    [{ ...service, pool: pool as never }],
    ["options", required(options(POSTGRES_OUTBOX_OPTIONS))],
  ),
  constructs(
    MySqlOutbox,
    [{ ...service, pool: mysqlPool }],
    ["options", required(options(MY_SQL_OUTBOX_OPTIONS))],
  ),
  constructs(
    PGliteOutbox,
    [{ ...service, pglite: pglite_ }],
    ["options", required(options(PGLITE_OUTBOX_OPTIONS))],
  ),
  constructs(MemoryOutbox, [service], ["options", required(options(MEMORY_OUTBOX_OPTIONS))]),
  method(inMemory, "run", "rejects", [live, {}], ["signal", required(signal)]),
  method(inMemory, "pause", "rejects", ["a"], ["topic", required(storedName)]),
  method(inMemory, "resume", "rejects", ["a"], ["topic", required(storedName)]),
];

const doors = [
  ...outboxDoors,
  ...taskDoors,
  ...postgresDoors,
  ...mysqlDoors,
  ...testingDoors,
  ...serviceDoors,
];

testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
  expect(relay.status()).toEqual({ held: [], state: "new", attempts: 0, waiting: 0, unwritten: 0 });
});

testEveryExport(
  new URL("../api/", import.meta.url),
  { index: root, store, testing, postgres, pglite, mysql },
  doors,
  [
    // In the table of clock.
    root.findError,
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
