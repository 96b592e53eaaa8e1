import { poll } from "@holdfast/wait";
import type { Redis } from "ioredis";

/** Waits until a server gives leases of so many milliseconds. */
export async function oldEnough(client: Redis, lease: number): Promise<void> {
  const age = async (): Promise<number> => {
    const [, seconds] = /uptime_in_seconds:(\d+)/.exec(await client.info("server")) ?? [];
    return Number(seconds) * 1_000 - 1_000;
  };
  const onError = (): void => undefined; // not connected yet
  await poll(async () => (await age()) >= lease, { backoff: { duration: 200 }, onError });
}
