/** How PostgreSQL, and how MySQL and MariaDB, call the error of a table that does not exist. */
const NO_TABLE: readonly unknown[] = ["42P01", 1146];

/** How many causes are looked at. */
const DEPTH = 5;

/**
 * Runs a statement. If its table is missing, the error says what creates it, and has the driver's as its cause.
 *
 * @param table - the first part of its name, after a schema if any. A trigger may miss another table
 * @param remedy - what creates it
 */
export function onTable<Response>(
  table: string,
  remedy: string,
  request: () => Promise<Response>,
): Promise<Response> {
  const name = table.split(".").at(-1) as string;
  // An async function would be one more frame in the stacks of all errors.
  return request().then(undefined, (error) => {
    // Query layers wrap errors.
    for (let link = error, left = DEPTH; link instanceof Error && left > 0; left--) {
      const { message, code, errno, cause } = link as Error & { code?: unknown; errno?: unknown };
      if ((NO_TABLE.includes(code) || NO_TABLE.includes(errno)) && message.includes(name)) {
        const facts = errno === undefined ? { code } : { code, errno };
        throw Object.assign(new Error(`${message}: ${remedy}`, { cause: error }), facts);
      }
      link = cause;
    }
    throw error;
  });
}
