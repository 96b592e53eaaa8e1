/** Where a server is that `npm run test:services` has started. */
export function requiredUrl(
  variable: "DATABASE_URL" | "MYSQL_URL" | "REDIS_URL" | "AMQP_URL",
): string {
  const url = process.env[variable];
  if (!url) throw new Error(`${variable} is not set: run these tests with npm run test:services`);
  return url;
}
