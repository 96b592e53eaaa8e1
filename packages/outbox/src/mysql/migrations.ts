/** One step of the schema. Once released it is never changed: another one follows. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** One statement each. Each commits by itself, so each must be able to run twice. */
  readonly statements: readonly string[];
}

/** A text compares by its characters, as on PostgreSQL. */
const TABLE = "ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin";

const messages = (prefix: string): Migration => ({
  number: 1,
  name: "messages",
  statements: [
    `CREATE TABLE IF NOT EXISTS ${prefix}message (
      sequence BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      id CHAR(36) NOT NULL,
      create_time BIGINT NOT NULL COMMENT 'milliseconds since 1970',
      edit_time BIGINT NOT NULL COMMENT 'milliseconds since 1970',
      creator VARCHAR(255) NOT NULL, editor VARCHAR(255) NOT NULL,
      deleted BOOLEAN NOT NULL DEFAULT FALSE,
      message_status VARCHAR(16) NOT NULL,
      current_retry_times INT NOT NULL DEFAULT 0,
      lost_attempts INT NOT NULL DEFAULT 0,
      max_retry_times INT NOT NULL DEFAULT 5,
      next_schedule_time BIGINT COMMENT 'milliseconds since 1970',
      init_backoff DOUBLE NOT NULL DEFAULT 10000 COMMENT 'milliseconds',
      backoff_factor DOUBLE NOT NULL DEFAULT 2,
      queue_name VARCHAR(255) NOT NULL, exchange_name VARCHAR(255) NOT NULL,
      exchange_type VARCHAR(255) NOT NULL DEFAULT 'direct', routing_key VARCHAR(255) NOT NULL,
      business_module VARCHAR(255) NOT NULL, business_key VARCHAR(255) NOT NULL,
      last_error MEDIUMTEXT,
      claimed_by VARCHAR(255),
      claimed_until BIGINT COMMENT 'milliseconds since 1970',
      claim_number INT NOT NULL DEFAULT 0,
      is_open TINYINT GENERATED ALWAYS AS
        (CASE WHEN deleted = 0 AND next_schedule_time IS NOT NULL THEN 1 END) STORED
        COMMENT 'NULL when deleted, confirmed or dead',
      due_at BIGINT GENERATED ALWAYS AS
        (CASE WHEN deleted = 0 AND claimed_by IS NULL THEN next_schedule_time END) STORED
        COMMENT 'NULL when claimed, deleted, confirmed or dead',
      CONSTRAINT ${prefix}message_status CHECK (message_status IN ('pending', 'failed', 'success', 'dead')),
      CONSTRAINT ${prefix}message_retries CHECK (current_retry_times BETWEEN 0 AND max_retry_times),
      CONSTRAINT ${prefix}message_open CHECK
        ((message_status IN ('success', 'dead')) = (next_schedule_time IS NULL)),
      CONSTRAINT ${prefix}message_claim CHECK ((claimed_by IS NULL) = (claimed_until IS NULL)),
      UNIQUE KEY message_id (id),
      KEY message_due (due_at),
      KEY message_claimed (claimed_until),
      KEY message_status (message_status, edit_time, deleted),
      KEY message_business (business_module, business_key, is_open, sequence)
    ) ${TABLE}`,
  ],
});

const contents = (prefix: string): Migration => ({
  number: 2,
  name: "contents",
  statements: [
    `CREATE TABLE IF NOT EXISTS ${prefix}content (
      message_id CHAR(36) NOT NULL PRIMARY KEY,
      content MEDIUMTEXT NOT NULL,
      CONSTRAINT ${prefix}content_message FOREIGN KEY (message_id)
        REFERENCES ${prefix}message (id) ON DELETE CASCADE
    ) ${TABLE}`,
  ],
});

/** Names are bytes here: comparisons of texts ignore trailing spaces. */
const locks = (prefix: string): Migration => ({
  number: 3,
  name: "locks and fences",
  statements: [
    `CREATE TABLE IF NOT EXISTS ${prefix}lock (
      name VARBINARY(255) NOT NULL PRIMARY KEY,
      version CHAR(36) NOT NULL,
      holder MEDIUMTEXT NOT NULL,
      lease_duration DOUBLE NOT NULL,
      acquired_at DOUBLE NOT NULL,
      renewed_at DOUBLE NOT NULL,
      transitions DOUBLE NOT NULL
    ) ${TABLE}`,
    `CREATE TABLE IF NOT EXISTS ${prefix}fence (
      name VARBINARY(255) NOT NULL PRIMARY KEY,
      token DOUBLE NOT NULL
    ) ${TABLE}`,
  ],
});

/** All of them, in the order in which they are applied. */
export function migrationsOf(prefix: string): readonly Migration[] {
  return [messages, contents, locks].map((migration) => migration(prefix));
}
