/** The tables of both sides of the business beside the outbox, one statement each. */
export const CREATE_TABLES: readonly string[] = [
  // The sender's.
  `CREATE TABLE demo_order (
    number INT PRIMARY KEY,
    message_id CHAR(36) NOT NULL,
    discarded BOOLEAN NOT NULL DEFAULT FALSE
  )`,
  // The receiver's. An effect has no key: should one take place twice, it is there twice.
  "CREATE TABLE demo_receipt (message_id CHAR(36) PRIMARY KEY, visit CHAR(36) NOT NULL)",
  "CREATE TABLE demo_effect (message_id CHAR(36) NOT NULL, KEY (message_id))",
  // An observer's: each failed attempt that is tried again, as it was written.
  `CREATE TABLE demo_failure (
    message_id CHAR(36) NOT NULL,
    failures INT NOT NULL,
    wait DOUBLE NOT NULL,
    error MEDIUMTEXT NOT NULL
  )`,
  `CREATE TRIGGER demo_observe AFTER UPDATE ON outbox_message FOR EACH ROW
    INSERT INTO demo_failure
    SELECT NEW.id, NEW.failed_attempts, NEW.due_at - NEW.updated_at, NEW.last_error
    FROM DUAL
    WHERE NEW.status = 'retrying' AND NEW.failed_attempts > OLD.failed_attempts`,
];
