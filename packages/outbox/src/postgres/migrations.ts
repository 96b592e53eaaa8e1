/** One step of the schema. Once released it is never changed: another one follows. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** One statement each. */
  readonly statements: readonly string[];
}

const messages = (prefix: string): Migration => ({
  number: 1,
  name: "messages",
  statements: [
    `CREATE TABLE ${prefix}message (
      id uuid PRIMARY KEY,
      create_time timestamptz(3) NOT NULL,
      edit_time timestamptz(3) NOT NULL,
      creator text NOT NULL,
      editor text NOT NULL,
      deleted boolean NOT NULL DEFAULT false,
      message_status text NOT NULL
        CONSTRAINT ${prefix}message_status CHECK (message_status IN ('pending', 'failed', 'success', 'dead')),
      current_retry_times integer NOT NULL DEFAULT 0,
      max_retry_times integer NOT NULL DEFAULT 5,
      next_schedule_time timestamptz(3),
      init_backoff double precision NOT NULL DEFAULT 10000,
      backoff_factor double precision NOT NULL DEFAULT 2,
      queue_name text NOT NULL,
      exchange_name text NOT NULL,
      exchange_type text NOT NULL DEFAULT 'direct',
      routing_key text NOT NULL,
      business_module text NOT NULL,
      business_key text NOT NULL,
      last_error text,
      claimed_by text,
      claimed_until timestamptz(3),
      claim_number integer NOT NULL DEFAULT 0,
      CONSTRAINT ${prefix}message_retries CHECK (current_retry_times BETWEEN 0 AND max_retry_times),
      CONSTRAINT ${prefix}message_open CHECK ((message_status IN ('success', 'dead')) = (next_schedule_time IS NULL)),
      CONSTRAINT ${prefix}message_claim CHECK ((claimed_by IS NULL) = (claimed_until IS NULL))
    )`,
    `COMMENT ON COLUMN ${prefix}message.init_backoff IS 'milliseconds'`,
    `CREATE TABLE ${prefix}content (
      message_id uuid PRIMARY KEY REFERENCES ${prefix}message (id) ON DELETE CASCADE,
      content text NOT NULL
    )`,
    `CREATE INDEX ${prefix}message_due ON ${prefix}message (next_schedule_time)
      WHERE claimed_by IS NULL AND NOT deleted AND message_status NOT IN ('success', 'dead')`,
    `CREATE INDEX ${prefix}message_claimed ON ${prefix}message (claimed_until)
      WHERE claimed_by IS NOT NULL`,
    `CREATE INDEX ${prefix}message_dead ON ${prefix}message (edit_time) WHERE message_status = 'dead'`,
    `CREATE INDEX ${prefix}message_business ON ${prefix}message (business_module, business_key)`,
  ],
});

const locks = (prefix: string): Migration => ({
  number: 2,
  name: "locks and fences",
  statements: [
    `CREATE SEQUENCE ${prefix}lock_version`,
    `CREATE TABLE ${prefix}lock (
      name text PRIMARY KEY,
      version bigint NOT NULL DEFAULT nextval('${prefix}lock_version'),
      holder text NOT NULL,
      lease_duration double precision NOT NULL,
      acquired_at double precision NOT NULL,
      renewed_at double precision NOT NULL,
      transitions double precision NOT NULL
    )`,
    `CREATE TABLE ${prefix}fence (name text PRIMARY KEY, token double precision NOT NULL)`,
  ],
});

const lostAttemptsAndOrder = (prefix: string): Migration => ({
  number: 3,
  name: "lost attempts, order, retention",
  statements: [
    `ALTER TABLE ${prefix}message
      ADD COLUMN lost_attempts integer NOT NULL DEFAULT 0,
      ADD COLUMN sequence bigint GENERATED ALWAYS AS IDENTITY`,
    `DROP INDEX ${prefix}message_business`,
    `CREATE INDEX ${prefix}message_business
      ON ${prefix}message (business_module, business_key, sequence)
      WHERE NOT deleted AND message_status NOT IN ('success', 'dead')`,
    `CREATE INDEX ${prefix}message_confirmed ON ${prefix}message (edit_time)
      WHERE message_status = 'success'`,
  ],
});

/** All of them, in the order in which they are applied. */
export function migrationsOf(prefix: string): readonly Migration[] {
  return [messages, locks, lostAttemptsAndOrder].map((migration) => migration(prefix));
}
