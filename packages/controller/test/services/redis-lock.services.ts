import { randomUUID } from "node:crypto";
import { onAbort } from "@holdfast/clock";
import { isLockConflictError, LeaderElector } from "@holdfast/controller";
import { isForgottenLeaseError, RedisLock } from "@holdfast/controller/redis-lock";
import { poll } from "@holdfast/wait";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oldEnough, RedisServer } from "../../../../services/redis.mjs";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { testResourceLock } from "../../../../test/resource-lock.contract.ts";
import { TcpProxy } from "../../../../test/tcp-proxy.ts";

const { signal } = new AbortController();
const record = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };
const redis = new Redis(requiredUrl("REDIS_URL"));
const connected: Redis[] = [redis];

function connect(url: string): Redis {
  // Reconnects soon after a restart; commands fail meanwhile and do not queue.
  const client = new Redis(url, { retryStrategy: () => 50, enableOfflineQueue: false });
  client.on("error", () => undefined); // each command rejects, too
  connected.push(client);
  return client;
}

beforeAll(() => oldEnough(requiredUrl("REDIS_URL"), 15_000));

afterAll(() => {
  for (const client of connected) client.disconnect();
});

testResourceLock(
  "RedisLock",
  () => new RedisLock(redis, { key: randomUUID(), firstToken: () => 0 }),
);

describe("RedisLock", () => {
  it("begins with a free record whose token is the time, and recognizes its own write", async () => {
    const before = Date.now();
    const lock = new RedisLock(redis, { key: randomUUID() });
    const free = await lock.get(signal);
    expect(free?.record.holder).toBe("");
    expect(free?.record.transitions).toBeGreaterThanOrEqual(before - 1);
    expect(free?.record.transitions).toBeLessThanOrEqual(Date.now());
    expect(await errorOf(lock.create(record, signal))).toSatisfy(isLockConflictError);
    const transitions = (free?.record.transitions ?? 0) + 1;
    const taken = await lock.update({ ...record, transitions }, free?.version ?? "", signal);
    expect(await lock.get(signal)).toEqual(taken);
  });

  it("is read on another connection after the network has forgotten its own, by socketTimeout", async () => {
    await using proxy = await TcpProxy.to(requiredUrl("REDIS_URL"));
    const client = new Redis(proxy.url, { commandTimeout: 200, socketTimeout: 500 });
    client.on("error", () => undefined);
    connected.push(client);
    const lock = new RedisLock(client, { key: randomUUID(), firstToken: () => 0 });
    const isRead = () =>
      lock.get(signal).then(
        (found) => found === undefined,
        () => false,
      );
    await poll(isRead, { timeout: 60_000, backoff: { duration: 50 } });
    proxy.forget();
    expect(await errorOf(lock.get(signal))).toMatchObject({ message: "Command timed out" });
    await poll(isRead, { timeout: 60_000, backoff: { duration: 50 } });
  });

  it("recognizes its own write that a client sends twice", async () => {
    const sent: Promise<unknown>[] = [];
    const twice = {
      eval: async (script: string, keys: number, ...rest: string[]): Promise<unknown> => {
        sent.push(redis.eval(script, keys, ...rest));
        return await redis.eval(script, keys, ...rest);
      },
    };
    const lock = new RedisLock(twice, { key: randomUUID(), firstToken: () => 0 });
    const { version } = await lock.create(record, signal);
    expect((await lock.get(signal))?.version).toBe(version);
    await Promise.all(sent);
  });

  it("names the rights that its user lacks", async () => {
    const key = randomUUID();
    const rights = ["+eval", "+time", "+hmget", "+hset"];
    await redis.call("ACL", "SETUSER", "no-info", "on", ">secret", `~${key}`, ...rights);
    const url = new URL(requiredUrl("REDIS_URL"));
    url.username = "no-info";
    url.password = "secret";
    const lock = new RedisLock(connect(url.href), { key });
    await poll(async () => !/writeable/.test(String(await errorOf(lock.get(signal)))));
    expect(await errorOf(lock.get(signal))).toMatchObject({
      message: `key ${key} of Redis: the user of Redis lacks rights: grant it +eval +info +time +hmget +hset and the key`,
    });
    await redis.call("ACL", "SETUSER", "no-info", "+info");
    expect(await lock.get(signal)).toBeDefined();
    await redis.call("ACL", "DELUSER", "no-info");
  });

  it("does not treat an invalid record as free", async () => {
    const lock = new RedisLock(redis, { key: randomUUID(), firstToken: () => 0 });
    const key = lock.description.split(" ")[1] as string;
    await lock.create(record, signal);
    for (const text of ["", "{", "null", '{"holder":"a"}', '{"holder":1,"leaseDuration":1}']) {
      await redis.hset(key, "record", text);
      const error = await errorOf(lock.get(signal));
      expect(error).toMatchObject({
        message: `key ${key} of Redis does not contain a lease record; another program may use the key`,
      });
    }
    await redis.set(key, "somebody else's");
    expect(await errorOf(lock.get(signal))).toMatchObject({
      message: expect.stringContaining("WRONGTYPE"),
    });
  });

  it("ends a request with the signal at once, and leaves no listener", async () => {
    const lock = new RedisLock({ eval: () => new Promise(() => {}) }, { key: "key" });
    const stop = new AbortController();
    const requests = [
      lock.get(stop.signal),
      lock.create(record, stop.signal),
      lock.update(record, "1", stop.signal),
    ].map(errorOf);
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await Promise.all(requests)).toEqual([reason, reason, reason]);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it.each(["stop", "kill"] as const)(
    "grants no lease after a %s before an earlier one has expired",
    async (how) => {
      await using server = await RedisServer.start();
      const client = connect(server.url);
      await oldEnough(server.url, record.leaseDuration);
      const lock = new RedisLock(client, { key: "key" });
      const free = await lock.get(signal);
      const transitions = (free?.record.transitions ?? 0) + 1;
      const held = await lock.update({ ...record, transitions }, free?.version ?? "", signal);

      await server[how]();
      await server.start();
      const after = await poll(() => lock.get(signal).catch(() => undefined));
      expect(after.record.holder).toBe("");
      expect(after.record.transitions).toBeGreaterThan(transitions);
      expect(await errorOf(lock.update(record, held.version, signal))).toSatisfy(
        isLockConflictError,
      );
      // However slowly all this went, the server is not as old as this lease.
      const long = { ...record, leaseDuration: 3_600_000 };
      const early = await errorOf(lock.update(long, after.version, signal));
      expect(early).toSatisfy(isForgottenLeaseError);
      expect(early).toMatchObject({ remaining: expect.any(Number) });
      await oldEnough(server.url, record.leaseDuration);
      await lock.update(record, after.version, signal);
    },
  );

  it("grants a lease at once after a fail-over, with a token above any that may still be held", async () => {
    await using primary = await RedisServer.start();
    await using replica = await RedisServer.start();
    const [first, second] = [connect(primary.url), connect(replica.url)];
    await oldEnough(primary.url, record.leaseDuration);
    await oldEnough(replica.url, record.leaseDuration);
    await second.replicaof("127.0.0.1", primary.port);
    const lock = new RedisLock(first, { key: "key" });
    const free = await lock.get(signal);
    const transitions = (free?.record.transitions ?? 0) + 1;
    const held = await lock.update({ ...record, transitions }, free?.version ?? "", signal);
    await poll(
      async () => (await second.hget("key", "version").catch(() => null)) === held.version,
    );

    await primary.kill();
    await second.replicaof("NO", "ONE");
    const other = new RedisLock(second, { key: "key" });
    const after = await other.get(signal);
    expect(after?.record.holder).toBe("");
    const token = (after?.record.transitions ?? 0) + 1;
    expect(token).toBeGreaterThan(transitions);
    await other.update({ ...record, transitions: token }, after?.version ?? "", signal);
    expect(await errorOf(other.update(held.record, held.version, signal))).toSatisfy(
      isLockConflictError,
    );
  });

  it("ignores a restored record, however old the server is", async () => {
    const lock = new RedisLock(redis, { key: randomUUID(), firstToken: () => 0 });
    const key = lock.description.split(" ")[1] as string;
    const { version } = await lock.create(record, signal);
    await redis.hset(key, "run", "of before");
    expect(await lock.get(signal)).toBeUndefined();
    expect(await errorOf(lock.update(record, version, signal))).toSatisfy(isLockConflictError);
  });

  it("never has two holders while the server restarts, and its tokens grow", async () => {
    await using server = await RedisServer.start();
    const stop = new AbortController();
    let holders = 0;
    let most = 0;
    const tokens: number[] = [];
    const electors = ["a", "b", "c"].map((identity) => {
      const lock = new RedisLock(connect(server.url), { key: "key" });
      return new LeaderElector({
        lock,
        identity,
        leaseDuration: 2_000,
        renewDeadline: 1_500,
        retryPeriod: 100,
        onError: () => undefined, // the server is away
        lead: async ({ token, signal: term }) => {
          tokens.push(token);
          most = Math.max(most, ++holders);
          await new Promise((resolve) => onAbort(term, resolve));
          holders--;
        },
      });
    });
    const runs = electors.map((elector) => elector.run(stop.signal));
    for (const round of [1, 2, 3]) {
      await poll(() => holders > 0 && tokens.length >= round, { timeout: 60_000 });
      await (round === 2 ? server.kill() : server.stop());
      await server.start();
      await poll(() => holders === 0, { timeout: 60_000 });
    }
    await poll(() => tokens.length >= 4, { timeout: 60_000 });
    stop.abort();
    await Promise.all(runs);
    expect(most).toBe(1);
    expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
  });
});
