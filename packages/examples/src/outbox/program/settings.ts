/** What a run does. */
export interface Settings {
  readonly messages: number;
  readonly workers: number;
  /** How often a worker is killed along the way. */
  readonly kills: number;
  /** Decides which attempts fail, when workers are killed, and which. */
  readonly seed: number;
  /** Where to write the figures, too; `-` is the standard output, which then has nothing else. */
  readonly json: string | undefined;
}

/** The servers to use; what is undefined is embedded, or done without. */
export interface Services {
  readonly databaseUrl: string | undefined;
  readonly amqpUrl: string | undefined;
  readonly redisUrl: string | undefined;
}

/** Reads them from the environment. An empty variable is as good as none. */
export function servicesOf(env: NodeJS.ProcessEnv): Services {
  return {
    databaseUrl: env["DATABASE_URL"] || undefined,
    amqpUrl: env["AMQP_URL"] || undefined,
    redisUrl: env["REDIS_URL"] || undefined,
  };
}
