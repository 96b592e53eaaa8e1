/** One step of the schema. Once released it is never changed: another one follows. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** One statement each. */
  readonly statements: readonly string[];
}

const messages: Migration = {
  number: 1,
  name: "messages",
  statements: [
    `CREATE TABLE outbox_message (
      id uuid PRIMARY KEY,
      create_time timestamptz(3) NOT NULL,
      edit_time timestamptz(3) NOT NULL,
      creator text NOT NULL,
      editor text NOT NULL,
      deleted boolean NOT NULL DEFAULT false,
      message_status text NOT NULL
        CONSTRAINT outbox_message_status CHECK (message_status IN ('pending', 'failed', 'success', 'dead')),
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
      CONSTRAINT outbox_message_retries CHECK (current_retry_times BETWEEN 0 AND max_retry_times),
      CONSTRAINT outbox_message_open CHECK
        ((message_status IN ('success', 'dead')) = (next_schedule_time IS NULL)),
      CONSTRAINT outbox_message_claim CHECK ((claimed_by IS NULL) = (claimed_until IS NULL))
    )`,
    "COMMENT ON COLUMN outbox_message.init_backoff IS 'milliseconds'",
    `CREATE TABLE outbox_content (
      message_id uuid PRIMARY KEY REFERENCES outbox_message (id) ON DELETE CASCADE,
      content text NOT NULL
    )`,
    `CREATE INDEX outbox_message_due ON outbox_message (next_schedule_time)
      WHERE claimed_by IS NULL AND NOT deleted AND message_status NOT IN ('success', 'dead')`,
    `CREATE INDEX outbox_message_claimed ON outbox_message (claimed_until)
      WHERE claimed_by IS NOT NULL`,
    `CREATE INDEX outbox_message_dead ON outbox_message (edit_time) WHERE message_status = 'dead'`,
    "CREATE INDEX outbox_message_business ON outbox_message (business_module, business_key)",
  ],
};

const locks: Migration = {
  number: 2,
  name: "locks and fences",
  statements: [
    "CREATE SEQUENCE outbox_lock_version",
    `CREATE TABLE outbox_lock (
      name text PRIMARY KEY,
      version bigint NOT NULL DEFAULT nextval('outbox_lock_version'),
      holder text NOT NULL,
      lease_duration double precision NOT NULL,
      acquired_at double precision NOT NULL,
      renewed_at double precision NOT NULL,
      transitions double precision NOT NULL
    )`,
    "CREATE TABLE outbox_fence (name text PRIMARY KEY, token double precision NOT NULL)",
  ],
};

/** All of them, in the order in which they are applied. */
export const migrations: readonly Migration[] = [messages, locks];
