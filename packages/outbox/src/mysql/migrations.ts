import { CAP, PRIORITIES } from "../message/schedule.ts";
import type { Migration } from "../store/migration.ts";

/** A text compares by its characters, as on PostgreSQL. */
const TABLE = "ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin";

/** Names are bytes where they are keys: comparisons of texts ignore trailing spaces. */
const messages = (prefix: string): Migration => ({
  number: 1,
  name: "messages",
  statements: [
    `CREATE TABLE IF NOT EXISTS ${prefix}message (
      sequence BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      id CHAR(36) NOT NULL,
      topic VARCHAR(255) NOT NULL,
      \`key\` VARCHAR(255) NOT NULL,
      headers TEXT NOT NULL,
      payload MEDIUMTEXT NOT NULL,
      status VARCHAR(16) NOT NULL DEFAULT 'pending',
      created_at BIGINT NOT NULL COMMENT 'milliseconds since 1970',
      updated_at BIGINT NOT NULL COMMENT 'milliseconds since 1970',
      due_at BIGINT COMMENT 'milliseconds since 1970; NULL when delivered or dead',
      failed_attempts INT NOT NULL DEFAULT 0,
      expired_claims INT NOT NULL DEFAULT 0,
      max_attempts INT NOT NULL DEFAULT 5,
      initial_delay DOUBLE NOT NULL DEFAULT 10000 COMMENT 'milliseconds',
      factor DOUBLE NOT NULL DEFAULT 2,
      last_error MEDIUMTEXT,
      claimed_by VARCHAR(255),
      claimed_until BIGINT COMMENT 'milliseconds since 1970',
      claim_number INT NOT NULL DEFAULT 0,
      is_open TINYINT GENERATED ALWAYS AS (CASE WHEN due_at IS NOT NULL THEN 1 END) STORED
        COMMENT 'NULL when delivered or dead',
      claimable_at BIGINT GENERATED ALWAYS AS (CASE WHEN claimed_by IS NULL THEN due_at END) STORED
        COMMENT 'NULL when claimed, delivered or dead',
      CONSTRAINT ${prefix}message_status CHECK (status IN ('pending', 'retrying', 'delivered', 'dead')),
      CONSTRAINT ${prefix}message_attempts CHECK (failed_attempts BETWEEN 0 AND max_attempts),
      CONSTRAINT ${prefix}message_open CHECK ((status IN ('delivered', 'dead')) = (due_at IS NULL)),
      CONSTRAINT ${prefix}message_claim CHECK ((claimed_by IS NULL) = (claimed_until IS NULL)),
      UNIQUE KEY message_id (id),
      KEY message_due (claimable_at),
      KEY message_claimed (claimed_until),
      KEY message_status (status, updated_at),
      KEY message_key (\`key\`, is_open, sequence)
    ) ${TABLE}`,
    `CREATE TABLE IF NOT EXISTS ${prefix}fence (
      name VARBINARY(255) NOT NULL PRIMARY KEY,
      token DOUBLE NOT NULL
    ) ${TABLE}`,
  ],
});

/**
 * Indexes that read the messages of one topic, one key or one state only. Each changes when a message enters or leaves
 * it, and not when a claimed one is delivered. A relay of the version before works beside
 * it, but finds no message with an expired claim. One statement: it copies the table, and must not do so twice.
 */
const lanes = (prefix: string): Migration => ({
  number: 2,
  name: "lanes",
  statements: [
    `ALTER TABLE ${prefix}message
      MODIFY COLUMN claimable_at BIGINT
        GENERATED ALWAYS AS (CASE WHEN claimed_by IS NULL AND expired_claims = 0 THEN due_at END) STORED
        COMMENT 'NULL when claimed, delivered or dead, or with an expired claim',
      ADD COLUMN claimable_topic VARBINARY(1020) GENERATED ALWAYS AS (
        CASE WHEN claimed_by IS NULL AND expired_claims = 0 AND due_at IS NOT NULL
          THEN CAST(topic AS BINARY) END) STORED
        COMMENT 'NULL when claimable_at is',
      ADD COLUMN fresh_key VARBINARY(1020) GENERATED ALWAYS AS (
        CASE WHEN claimed_by IS NULL AND expired_claims = 0 AND failed_attempts = 0 AND due_at IS NOT NULL
          THEN CAST(\`key\` AS BINARY) END) STORED
        COMMENT 'NULL when claimable_at is, or after an attempt',
      ADD COLUMN again_at BIGINT GENERATED ALWAYS AS (
        CASE WHEN claimed_by IS NULL AND (failed_attempts > 0 OR expired_claims > 0) THEN due_at END) STORED
        COMMENT 'NULL when claimed, delivered or dead, or before an attempt',
      ADD COLUMN has_expired TINYINT GENERATED ALWAYS AS (
        CASE WHEN claimed_by IS NULL AND due_at IS NOT NULL AND (failed_attempts > 0 OR expired_claims > 0)
          THEN expired_claims > 0 END) STORED
        COMMENT 'NULL when again_at is',
      ADD KEY message_topic (claimable_topic, claimable_at),
      ADD KEY message_fresh (fresh_key, claimable_at),
      ADD KEY message_again (has_expired, again_at)`,
  ],
});

/**
 * A schedule over days needs a longest delay. Rows that are there have none; a row of a relay of the version before has the
 * default.
 */
const schedule = (prefix: string): Migration => ({
  number: 3,
  name: "schedule",
  statements: [
    `ALTER TABLE ${prefix}message
      ADD COLUMN max_delay DOUBLE COMMENT 'milliseconds; NULL for no limit',
      ADD COLUMN expires_at BIGINT COMMENT 'milliseconds since 1970; NULL for never'`,
    `ALTER TABLE ${prefix}message ALTER COLUMN max_delay SET DEFAULT ${CAP}, ALTER COLUMN max_attempts SET DEFAULT 25`,
  ],
});

/**
 * Priorities are parts of the indexes, under their names: the relays of the version before name these, claim the messages as
 * they are due, and read all that waits. One statement: it copies the table, and must not do so twice.
 */
const priorities = (prefix: string): Migration => ({
  number: 4,
  name: "priorities and keys",
  statements: [
    `ALTER TABLE ${prefix}message
      ADD COLUMN priority TINYINT NOT NULL DEFAULT 0 COMMENT 'the smaller number first',
      ADD CONSTRAINT ${prefix}message_priority CHECK (priority BETWEEN ${PRIORITIES.at(0)} AND ${PRIORITIES.at(-1)}),
      DROP KEY message_due, ADD KEY message_due (priority, claimable_at),
      DROP KEY message_topic, ADD KEY message_topic (claimable_topic, priority, claimable_at)`,
    `CREATE TABLE IF NOT EXISTS ${prefix}once (
      kind VARBINARY(16) NOT NULL,
      \`key\` VARBINARY(255) NOT NULL,
      message_id CHAR(36) NOT NULL COMMENT 'of the message, or of the transaction that has taken the key',
      since BIGINT NOT NULL COMMENT 'milliseconds since 1970',
      until BIGINT NOT NULL COMMENT 'milliseconds since 1970',
      PRIMARY KEY (kind, \`key\`),
      KEY once_until (until),
      KEY once_message (message_id)
    ) ${TABLE}`,
  ],
});

/** Topics that are paused, and an index for the age of the oldest message that is not delivered. */
const topics = (prefix: string): Migration => ({
  number: 5,
  name: "topics",
  statements: [
    `CREATE TABLE IF NOT EXISTS ${prefix}topic (
      topic VARBINARY(255) NOT NULL PRIMARY KEY,
      paused_at BIGINT NOT NULL COMMENT 'milliseconds since 1970'
    ) ${TABLE}`,
    `ALTER TABLE ${prefix}message ADD KEY message_open_since (is_open, created_at)`,
  ],
});

/** All migrations, in the order in which they are applied. */
export function migrationsOf(prefix: string): readonly Migration[] {
  return [messages, lanes, schedule, priorities, topics].map((migration) => migration(prefix));
}
