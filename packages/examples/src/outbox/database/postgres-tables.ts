/** Tables of sender and receiver beside the outbox, one statement each. */
export const CREATE_TABLES: readonly string[] = [
  // The sender's.
  `CREATE TABLE demo_order (
    number integer PRIMARY KEY,
    message_id uuid NOT NULL,
    discarded boolean NOT NULL DEFAULT FALSE
  )`,
  // The receiver's. An effect has no key: should one take place twice, it is there twice.
  "CREATE TABLE demo_receipt (message_id uuid PRIMARY KEY)",
  "CREATE TABLE demo_effect (message_id uuid NOT NULL)",
  // An observer's: each failed attempt that is tried again, as it was written.
  `CREATE TABLE demo_failure (
    message_id uuid NOT NULL,
    failures integer NOT NULL,
    wait double precision NOT NULL,
    error text NOT NULL
  )`,
  `CREATE FUNCTION demo_observe() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO demo_failure VALUES (
      NEW.id, NEW.failed_attempts,
      extract(epoch FROM NEW.due_at - NEW.updated_at) * 1000, NEW.last_error
    );
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER demo_observe AFTER UPDATE ON outbox_message FOR EACH ROW
    WHEN (NEW.status = 'retrying' AND NEW.failed_attempts > OLD.failed_attempts)
    EXECUTE FUNCTION demo_observe()`,
];
