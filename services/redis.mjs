// A Redis server that keeps nothing: when it stops, it has forgotten everything.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { poll } from "@holdfast/wait";
import { Redis } from "ioredis";
import { freePort } from "./free-port.mjs";
import { PASSWORD, Service, started } from "./server.mjs";

export class RedisServer extends Service {
  /** @param {number} port */
  constructor(port) {
    super("redis");
    this.port = port;
    this.url = `redis://:${PASSWORD}@127.0.0.1:${port}`;
    // Not as arguments: every user of the machine sees those. The second is for a replica.
    writeFileSync(this.#config, `requirepass ${PASSWORD}\nmasterauth ${PASSWORD}\n`);
  }

  /** @param {AbortSignal} [signal] */
  static async start(signal) {
    return await started(new RedisServer(await freePort()), signal);
  }

  /** @param {AbortSignal} [signal] */
  async start(signal) {
    const args = [this.#config, "--port", `${this.port}`, "--bind", "127.0.0.1", "--save", ""];
    await this.launch(
      {
        name: "Redis",
        command: "redis-server",
        args: [...args, "--appendonly", "no", "--maxmemory-policy", "noeviction"],
        greet: () => this.#greet(),
      },
      signal,
    );
  }

  get #config() {
    return join(this.directory, "redis.conf");
  }

  async #greet() {
    const client = new Redis(this.url, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => undefined); // told by the rejection, too
    try {
      await client.connect();
      await client.ping();
    } finally {
      client.disconnect();
    }
  }
}

/**
 * Waits until a server has been up for `lease` milliseconds, so that a `RedisLock` grants leases.
 *
 * @param {string} url
 * @param {number} lease
 */
export async function oldEnough(url, lease) {
  const client = new Redis(url);
  client.on("error", () => undefined); // it connects again
  const age = async () => {
    const [, seconds] = /uptime_in_seconds:(\d+)/.exec(await client.info("server")) ?? [];
    return Number(seconds) * 1_000 - 1_000;
  };
  await poll(async () => (await age()) >= lease, { backoff: { duration: 200 } });
  client.disconnect();
}
