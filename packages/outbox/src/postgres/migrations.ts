import { CAP, PRIORITIES } from "../message/schedule.ts";
import type { Migration } from "../store/migration.ts";
import { ALONE, OPEN_SINCE, PARKED_KEY, READY } from "./claim-statements.ts";

const messages = (prefix: string): Migration => ({
  number: 1,
  name: "messages",
  statements: [
    `CREATE TABLE ${prefix}message (
      sequence bigint GENERATED ALWAYS AS IDENTITY,
      id uuid PRIMARY KEY,
      topic text NOT NULL,
      key text NOT NULL,
      headers text NOT NULL DEFAULT '{}',
      payload text NOT NULL,
      status text NOT NULL DEFAULT 'pending'
        CONSTRAINT ${prefix}message_status CHECK (status IN ('pending', 'retrying', 'delivered', 'dead')),
      created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      due_at timestamptz(3),
      failed_attempts integer NOT NULL DEFAULT 0,
      expired_claims integer NOT NULL DEFAULT 0,
      max_attempts integer NOT NULL DEFAULT 5,
      initial_delay double precision NOT NULL DEFAULT 10000,
      factor double precision NOT NULL DEFAULT 2,
      last_error text,
      claimed_by text,
      claimed_until timestamptz(3),
      claim_number integer NOT NULL DEFAULT 0,
      CONSTRAINT ${prefix}message_attempts CHECK (failed_attempts BETWEEN 0 AND max_attempts),
      CONSTRAINT ${prefix}message_open CHECK ((status IN ('delivered', 'dead')) = (due_at IS NULL)),
      CONSTRAINT ${prefix}message_claim CHECK ((claimed_by IS NULL) = (claimed_until IS NULL))
    )`,
    `COMMENT ON COLUMN ${prefix}message.initial_delay IS 'milliseconds'`,
    `CREATE INDEX ${prefix}message_due ON ${prefix}message (due_at)
      WHERE claimed_by IS NULL AND due_at IS NOT NULL`,
    `CREATE INDEX ${prefix}message_claimed ON ${prefix}message (claimed_until)
      WHERE claimed_by IS NOT NULL`,
    `CREATE INDEX ${prefix}message_key ON ${prefix}message (key, sequence) WHERE due_at IS NOT NULL`,
    `CREATE INDEX ${prefix}message_dead ON ${prefix}message (updated_at, id) WHERE status = 'dead'`,
    `CREATE INDEX ${prefix}message_delivered ON ${prefix}message (updated_at)
      WHERE status = 'delivered'`,
    `CREATE TABLE ${prefix}fence (name text PRIMARY KEY, token double precision NOT NULL)`,
  ],
});

/**
 * A claim, and each look, reads an index that holds nothing else. A message behind another one of its key is parked once
 * a claim has met it.
 */
const indexes = (prefix: string): Migration => {
  const message = `${prefix}message`;
  const index = (name: string, at: string, among = ""): string =>
    `CREATE INDEX ${message}_${name} ON ${message} (${among}${at}) WHERE ${at} IS NOT NULL`;
  return {
    number: 2,
    name: "indexes",
    statements: [
      `ALTER TABLE ${message} ADD COLUMN parked boolean NOT NULL DEFAULT false`,
      `COMMENT ON COLUMN ${message}.parked IS 'waits for an earlier message of its key'`,
      `DROP INDEX ${message}_due`,
      index("due", READY.at),
      index("topic", READY.atByTopic, "status, topic, "),
      index("alone", ALONE.at),
      index("alone_topic", ALONE.atByTopic, "status, topic, "),
      index("parked", PARKED_KEY),
    ],
  };
};

/**
 * A schedule over days needs a longest delay. Rows that are there have none; a row of a relay of the version before has the
 * default.
 */
const schedule = (prefix: string): Migration => ({
  number: 3,
  name: "schedule",
  statements: [
    `ALTER TABLE ${prefix}message ADD COLUMN max_delay double precision, ADD COLUMN expires_at timestamptz(3)`,
    `COMMENT ON COLUMN ${prefix}message.max_delay IS 'milliseconds; NULL for no limit'`,
    `ALTER TABLE ${prefix}message
      ALTER COLUMN max_delay SET DEFAULT ${CAP}, ALTER COLUMN max_attempts SET DEFAULT 25`,
  ],
});

/**
 * Priorities are parts of the indexes, and of their order. The relays of the version before claim the messages as they are
 * due, and read all that waits.
 */
const priorities = (prefix: string): Migration => {
  const message = `${prefix}message`;
  const index = (name: string, at: string, among = ""): readonly string[] => [
    `DROP INDEX ${message}_${name}`,
    `CREATE INDEX ${message}_${name} ON ${message} (${among}priority, ${at}) WHERE ${at} IS NOT NULL`,
  ];
  const levels = `${PRIORITIES.at(0)} AND ${PRIORITIES.at(-1)}`;
  return {
    number: 4,
    name: "priorities and keys",
    statements: [
      `ALTER TABLE ${message} ADD COLUMN priority smallint NOT NULL DEFAULT 0
        CONSTRAINT ${message}_priority CHECK (priority BETWEEN ${levels})`,
      `COMMENT ON COLUMN ${message}.priority IS 'the smaller number first'`,
      ...index("due", READY.at),
      ...index("topic", READY.atByTopic, "status, topic, "),
      ...index("alone", ALONE.at),
      ...index("alone_topic", ALONE.atByTopic, "status, topic, "),
      `CREATE TABLE ${prefix}once (
        kind text NOT NULL,
        key text NOT NULL,
        message_id uuid,
        since timestamptz(3) NOT NULL,
        until timestamptz(3) NOT NULL,
        PRIMARY KEY (kind, key)
      )`,
      `COMMENT ON TABLE ${prefix}once IS 'unique keys of messages, and keys that consumers have handled'`,
      `CREATE INDEX ${prefix}once_until ON ${prefix}once (until)`,
      `CREATE INDEX ${prefix}once_message ON ${prefix}once (message_id) WHERE message_id IS NOT NULL`,
    ],
  };
};

/** Topics that are paused, and an index for the age of the oldest message that is not delivered. */
const topics = (prefix: string): Migration => ({
  number: 5,
  name: "topics",
  statements: [
    `CREATE TABLE ${prefix}topic (topic text PRIMARY KEY, paused_at timestamptz(3) NOT NULL)`,
    `CREATE INDEX ${prefix}message_open_since ON ${prefix}message (${OPEN_SINCE}) WHERE ${OPEN_SINCE} IS NOT NULL`,
  ],
});

/** All migrations, in the order in which they are applied. */
export function migrationsOf(prefix: string): readonly Migration[] {
  return [messages, indexes, schedule, priorities, topics].map((migration) => migration(prefix));
}
