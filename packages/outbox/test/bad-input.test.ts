import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock } from "@holdfast/controller";
import * as root from "@holdfast/outbox";
import * as kafka from "@holdfast/outbox/kafka";
import * as mysql from "@holdfast/outbox/mysql";
import * as nats from "@holdfast/outbox/nats";
import * as opentelemetry from "@holdfast/outbox/opentelemetry";
import * as pglite from "@holdfast/outbox/pglite";
import * as postgres from "@holdfast/outbox/postgres";
import * as prometheus from "@holdfast/outbox/prometheus";
import * as rabbitmq from "@holdfast/outbox/rabbitmq";
import * as stores from "@holdfast/outbox/store";
import * as testing from "@holdfast/outbox/testing";
import * as webhook from "@holdfast/outbox/webhook";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import * as kinds from "../../../test/bad-input.ts";
import { newMeter } from "../../../test/metric-samples.ts";
import { idOf, sample } from "./sample.ts";

const { all, arrayOf, count, data, f, finiteFrom, func, notNegative, outside } = kinds;
const { refuses, required, string, text, unchecked, whole } = kinds;
const { POSITIVE_INFINITY: endless } = Number;

const clock = new FakeClock();
const { signal: live } = new AbortController();
const register = new Registry();
const memory = new testing.MemoryStore();
const task = { name: "a", clock };
const locked = { ...task, store: memory, lock: new MemoryLock() };
const publisher = { publish: f, async [Symbol.asyncDispose]() {} };
const relaying = { ...task, store: memory, publisher };
const relay = new root.Relay(relaying);
const recovery = new root.Recovery(locked);
const retention = new root.Retention(locked);
const outbox = new root.Outbox<testing.MemoryTransaction>({
  store: memory,
  transaction: (work) => memory.transaction(work),
  clock,
});
const { deadLetters } = outbox;
const tx = new testing.MemoryTransaction();
const database = { query: f, transaction: f, async [Symbol.asyncDispose]() {} };
const sqlOutbox = new root.Outbox({ store: new postgres.PostgresStore(database), clock });
const pool = { query: f, connect: f, end: f, on: () => undefined };
const mysqlDatabase = { ...database, readCommitted: f, session: f };
const mysqlPool = { query: f, execute: f, getConnection: f, end: f, on: () => undefined };
const embedded = { query: f, transaction: f, listen: f, close: f };
const service = { name: "a", publisher, clock };
const inMemory = new testing.MemoryOutbox(service);
const message = sample(1, {
  maxAttempts: 5,
  backoff: { duration: 10, factor: 2 },
  unique: { key: "a", within: 1 },
});

/** Refuses what holds a bad value of a kind, which is named by the path and more. */
const holding =
  (kind: kinds.Kind, more: string, hold: (bad: unknown, valid: unknown) => unknown): kinds.Kind =>
  (path, valid) =>
    kind(`${path}${more}`, undefined).map((mistake) => {
      return { ...mistake, path, value: hold(mistake.value, valid) };
    });

/** A text that a database and a broker store as it is. */
const storedName = all(
  text,
  refuses("RangeError: PATH must not contain NUL", "a\0b"),
  refuses("RangeError: PATH must be well-formed Unicode, got a lone surrogate", "a\ud800b"),
  refuses("RangeError: PATH must be at most 255 bytes of UTF-8, got 256", "ü".repeat(128)),
);
const uuid = all(string, refuses("RangeError: PATH must be a UUID", "", "1", `${idOf(1)}0`));
const tooLong = (value: number, limits: string): kinds.Kind =>
  refuses(
    `RangeError: options.claimDuration must be above publishTimeout plus clockSkew, ${limits}`,
    value,
  );
const secrets = all(
  refuses("TypeError: PATH must be an array, got GOT", null, 1),
  refuses("RangeError: PATH must hold at least one secret", []),
  refuses("TypeError: PATH[0] must be a string, got 1", [1]),
  refuses('RangeError: PATH must be "whsec_" and the base64 of 24 to 64 random bytes', "s3cret"),
);

const own = {
  storedName,
  uuid,
  secrets,
  // A part of SQL that is never quoted.
  tablePrefix: all(
    string,
    refuses(
      "RangeError: PATH must be 1 to 30 lower case letters, digits and underscores, not a digit first, got GOT",
      ...["", "Outbox", "1a", "a-b", 'a"; DROP TABLE orders; --', "x".repeat(31), "ü"],
    ),
  ),
  // It is quoted, and ends no quotes.
  schemaName: all(
    string,
    refuses(
      "RangeError: PATH must be 1 to 63 letters, digits, underscores and hyphens, got GOT",
      ...["", 'a"b', "a.b", "a b", "x".repeat(64), "ü", "a'b", "a$b"],
    ),
  ),
  messageOrder: refuses(
    'RangeError: PATH must be "none" or "key"',
    ...[null, 5, "random", "BUSINESSKEY"],
  ),
  pageSize: all(count, refuses("RangeError: PATH must be at most 10000, got 10001", 10_001)),
  after: data<Pick<root.Message, "id" | "updatedAt">>({
    id: required(uuid),
    updatedAt: required(kinds.finite),
  }),
  topics: all(arrayOf(storedName), refuses("RangeError: PATH must have at least one topic", [])),
  publisher: all(
    kinds.methods("publish"),
    holding(func, ".publishMany", (publishMany, valid) => ({ ...(valid as object), publishMany })),
  ),
  topicWorkers: all(
    (path) =>
      count(path, 1).filter(({ value }) =>
        ["1", 1n, true, Number.NaN, 0, 1.5].includes(value as 1),
      ),
    refuses("TypeError: PATH must be an object, got null", null),
    refuses("TypeError: PATH must be an object, got [object Array]", [5]),
    refuses("TypeError: PATH must be an object, got [object Date]", new Date(0)),
    holding(count, '["a"]', (a) => ({ a })),
    refuses('RangeError: a topic of PATH must be a non-empty string, got ""', { "": 1 }),
    refuses("RangeError: a topic of PATH must not contain NUL", { "a\0b": 1 }),
  ),
  batchSize: all(count, outside("a number from 1 to 500", 501)),
  breaker: "BREAKER_OPTIONS",
  headers: data<stores.MessageHeaders>({}),
  payload: all(
    refuses("RangeError: message.payload must be a JSON value", undefined, f, Symbol("s"), 1n),
    refuses(
      "RangeError: message.payload must be at most 8388608 bytes of UTF-8, got 9000002",
      "x".repeat(9_000_000),
    ),
  ),
  messageBackoff: "MESSAGE_BACKOFF",
  messageUnique: "MESSAGE_UNIQUE",
  priority: all(whole(-2), outside("a number from -2 to 2", 3, endless)),
  attempts: all(whole(1), outside("a number from 1 to 1000000", 1_000_001, endless)),
  /** An array is a list of messages. */
  oneMessage: ((path, valid) =>
    options("NEW_MESSAGE")(path, valid).filter(
      ({ value }) => !Array.isArray(value),
    )) satisfies kinds.Kind,
  selection: all(
    refuses(
      'TypeError: PATH must be { ids }, { topic } or "all"',
      ...[undefined, null, 5, "some", {}, { ids: [], topic: "a" }],
    ),
    holding(arrayOf(uuid), ".ids", (ids) => ({ ids })),
    holding(storedName, ".topic", (topic) => ({ topic })),
  ),
  transaction: all(
    refuses("TypeError: PATH must be a transaction object, got GOT", null, 5),
    refuses("TypeError: PATH must be a transaction object, got a", "a"),
  ),
  relayOptions: all(
    (path, valid) => options("RELAY_OPTIONS")(path, valid),
    kinds.fields({
      jitter: outside("a finite number of at least 0", endless),
      publishTimeout: tooLong(55_000, "60000, got 60000"),
      claimDuration: tooLong(20_000, "20000, got 20000"),
    }),
  ),
  backoff: data<root.Message["backoff"]>({
    duration: required(notNegative),
    factor: required(finiteFrom(1)),
    cap: required(notNegative),
  }),
};
const sources = new URL("../src/", import.meta.url);
const { constructs, method, options, rejects, throws } = await kinds.doorsOf(sources, own);

const amqpUrl = "RangeError: options.url must be an amqp or amqps URL";
const badPem =
  "RangeError: PATH must hold certificates, a key and its passphrase in PEM that fit together, got";
const publishers = await kinds.doorsOf(sources, {
  secrets,
  amqpUrl: all(
    string,
    refuses(amqpUrl, "", "localhost", "http://s3cret@localhost"),
    refuses("RangeError: PATH must hold at least one URL", []),
    refuses("RangeError: PATH[1] must be an amqp or amqps URL", ["amqp://localhost", "s3cret"]),
    refuses("TypeError: PATH[1] must be a string, got 5", ["amqp://localhost", 5]),
  ),
  pem: unchecked,
  passphrase: unchecked,
  tls: all(
    (path, valid) => publishers.options("RABBIT_TLS")(path, valid),
    refuses(
      `${badPem} ERR_OSSL_PEM_NO_START_LINE`,
      ...[{ ca: "s3cret" }, { cert: "s3cret", key: "s3cret" }],
    ),
    refuses(`${badPem} ERR_INVALID_ARG_TYPE`, { ca: 5 }),
    refuses("RangeError: PATH must have both a cert and its key, or neither", { key: "s3cret" }),
    refuses("RangeError: options.url must be an amqps URL, as PATH is given", {}),
  ),
  mandatory: refuses("TypeError: PATH must be true or false, got GOT", null, 5),
  channels: all(kinds.between(1, 2_047), outside("a whole number of at least 1", 1.5)),
  backoff: kinds.backoff,
  httpUrl: all(
    string,
    refuses(
      "RangeError: PATH must be an http or https URL without a user and a password",
      ...["", "hooks", "ftp://receiver/", "http://shop:s3cret@receiver/"],
    ),
  ),
  headers: all(
    refuses("TypeError: PATH must be an object, got a string", "1"),
    refuses("TypeError: PATH must be an object, got GOT", 1),
  ),
});

const doors = [
  constructs(root.Outbox, [{ store: memory }], "options: OUTBOX_OPTIONS"),
  method(outbox, "transaction", "rejects", [f], "work: func"),
  method(outbox, "save", "rejects", [tx, message], "tx: transaction, message: oneMessage"),
  method(outbox, "cancel", "rejects", [idOf(1), tx], "id: uuid, tx?: transaction"),
  method(outbox, "once", "rejects", ["a", f, tx], "key: storedName, work: func, tx?: transaction"),
  method(outbox, "committed", "throws", [{}], "tx: transaction"),
  method(
    deadLetters,
    "list",
    "rejects",
    [{ after: { id: idOf(1), updatedAt: 0 } }],
    "options?: LIST_DEAD_LETTERS_OPTIONS",
  ),
  ...(["replay", "discard"] as const).map((name) =>
    method(
      deadLetters,
      name,
      "rejects",
      ["all", { portion: 1 }],
      "selection: selection, options?: CHANGE_DEAD_LETTERS_OPTIONS",
    ),
  ),
  method(sqlOutbox, "statements", "throws", [{}, message], "tx: transaction, message: NEW_MESSAGE"),

  constructs(root.Relay, [relaying], "options: relayOptions"),
  constructs(root.Recovery, [locked], "options: RECOVERY_OPTIONS"),
  constructs(root.Retention, [locked], "options: RETENTION_OPTIONS"),
  ...[recovery, retention].map((each) =>
    method(each, "run", "rejects", [live], "signal: abortSignal"),
  ),
  method(relay, "run", "rejects", [live, {}], "signal: abortSignal, options?: RUN_OPTIONS"),
  throws(
    stores.delayAfter,
    [1, { duration: 10, factor: 2, cap: 20 }],
    "failures: whole(1), backoff: backoff",
  ),

  constructs(postgres.PgDatabase, [pool], "pool: methods(connect, query, on, end), onError?: func"),
  constructs(
    pglite.PGliteDatabase,
    [embedded],
    "pglite: methods(query, transaction, listen, close)",
  ),
  rejects(
    postgres.migrate,
    [database],
    "database: methods(query, transaction), options?: POSTGRES_MIGRATE_OPTIONS",
  ),
  throws(
    postgres.migrationSql,
    [{ from: 1, lock: false }],
    "options?: POSTGRES_MIGRATION_SQL_OPTIONS",
  ),
  constructs(
    postgres.PostgresStore,
    [database],
    "database: methods(query, transaction), options?: POSTGRES_STORE_OPTIONS",
  ),
  constructs(
    mysql.MySqlDatabase,
    [mysqlPool],
    "pool: methods(getConnection, query, execute, on, end), onError?: func",
  ),
  rejects(mysql.migrate, [mysqlDatabase], "database: methods(session), options?: MIGRATE_OPTIONS"),
  throws(mysql.migrationSql, [{ from: 1, lock: false }], "options?: MIGRATION_SQL_OPTIONS"),
  constructs(
    mysql.MySqlStore,
    [mysqlDatabase],
    "database: methods(query, transaction, readCommitted), options?: MY_SQL_STORE_OPTIONS",
  ),

  constructs(testing.MemoryStore, [], "options?: MEMORY_STORE_OPTIONS"),
  constructs(testing.RecordingPublisher, [{}], "options?: RECORDING_PUBLISHER_OPTIONS"),
  throws(
    testing.faultyStore<testing.MemoryStore>,
    [memory, {}],
    "store: methods(save, claim), faults: STORE_FAULTS",
  ),

  constructs(postgres.PostgresOutbox, [{ ...service, pool }], "options: POSTGRES_OUTBOX_OPTIONS"),
  constructs(
    mysql.MySqlOutbox,
    [{ ...service, pool: mysqlPool }],
    "options: MY_SQL_OUTBOX_OPTIONS",
  ),
  constructs(
    pglite.PGliteOutbox,
    [{ ...service, pglite: embedded }],
    "options: PGLITE_OUTBOX_OPTIONS",
  ),
  constructs(testing.MemoryOutbox, [service], "options: MEMORY_OUTBOX_OPTIONS"),
  method(inMemory, "run", "rejects", [live, {}], "signal: abortSignal"),
  method(inMemory, "pause", "rejects", ["a"], "topic: storedName"),
  method(inMemory, "resume", "rejects", ["a"], "topic: storedName"),

  publishers.constructs(
    rabbitmq.RabbitPublisher,
    [{ url: "amqp://127.0.0.1:9", clock, backoff: { duration: 10 } }],
    "options: RABBIT_PUBLISHER_OPTIONS",
  ),
  publishers.constructs(
    webhook.WebhookPublisher,
    [{ url: "http://127.0.0.1:9" }],
    "options: WEBHOOK_PUBLISHER_OPTIONS",
  ),
  constructs(
    webhook.WebhookVerifier,
    [{ secrets: `whsec_${"A".repeat(32)}` }],
    "options: WEBHOOK_VERIFIER_OPTIONS",
  ),
  constructs(
    nats.NatsPublisher,
    [{ request: f, publish: f }, {}],
    "connection: methods(request, publish), options?: NATS_PUBLISHER_OPTIONS",
  ),
  constructs(
    kafka.KafkaPublisher,
    [{ producer: f }, {}],
    "client: methods(producer), options?: KAFKA_PUBLISHER_OPTIONS",
  ),
  constructs(
    prometheus.OutboxMetrics,
    [{ store: memory, register }],
    "options: OUTBOX_METRICS_OPTIONS",
  ),
  constructs(
    opentelemetry.OpenTelemetryOutboxMetrics,
    [{ store: memory, meter: newMeter().meter }],
    "options: OPEN_TELEMETRY_OUTBOX_METRICS_OPTIONS",
  ),
  constructs(
    webhook.WebhookError,
    ["refused"],
    "message: anything, options?: WEBHOOK_ERROR_OPTIONS",
  ),
  constructs(
    rabbitmq.UnconfirmedError,
    ["the channel closed"],
    "why: anything, options?: UNCONFIRMED_ERROR_OPTIONS",
  ),
  constructs(rabbitmq.RefusedError, [403], "replyCode: anything, options?: REFUSED_ERROR_OPTIONS"),
];

kinds.testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
  expect(relay.status()).toEqual({ held: [], state: "new", attempts: 0, waiting: 0, unwritten: 0 });
  expect(register.getMetricsAsArray()).toEqual([]);
});

kinds.testEveryExport(
  new URL("../api/", import.meta.url),
  {
    ...{ index: root, store: stores, testing, postgres, pglite, mysql, kafka, nats, rabbitmq },
    ...{ opentelemetry, prometheus, webhook },
  },
  doors,
  [
    // In the table of clock.
    root.findError,
    // Errors that take what a store or a publisher makes.
    ...[stores.StaleFenceError, rabbitmq.UnroutableError, webhook.UnverifiedError],
    // Made by a MemoryStore.
    testing.MemoryTransaction,
    "KafkaClient.producer", // of kafkajs
  ],
);

it("treats an explicit undefined as a missing option", () => {
  const undef = undefined;
  expect(() => {
    new root.Outbox({ store: memory, transaction: undef, onCommitted: undef, clock: undef });
    new root.Relay({ ...relaying, workers: undef, listen: undef, logger: undef, random: undef });
    new root.Recovery({ ...locked, fence: undef, minRound: undef, batch: undef, interval: undef });
    new root.Retention({ ...locked, olderThan: undef, batch: undef, leaseDuration: undef });
    new postgres.PostgresStore(database, { prefix: undef, order: undef });
    new testing.MemoryStore({ order: undef });
  }).not.toThrow();
});
