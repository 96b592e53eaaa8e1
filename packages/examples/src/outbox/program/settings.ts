/** What a run does. */
export interface Settings {
  readonly messages: number;
  readonly workers: number;
  /** How often a worker is killed along the way. */
  readonly kills: number;
  /** Decides which attempts fail, and how long to wait between kills. */
  readonly seed: number;
  /** A PostgreSQL server; embedded if undefined. */
  readonly databaseUrl: string | undefined;
  readonly amqpUrl: string | undefined;
  readonly redisUrl: string | undefined;
}
