import { RedisLock } from "@holdfast/controller/redis-lock";
import { expect, it } from "vitest";
import { errorOf } from "../../../test/error-of.ts";

const { signal } = new AbortController();

it("refuses a client of the package redis, and names the adapter", () => {
  const client = { eval: async () => [], EVAL: async () => [], isOpen: true };
  expect(() => new RedisLock(client, { key: "a" })).toThrow(
    new TypeError(
      "client must have a method eval(script, keys, ...keysAndValues), as ioredis has, got a client of the package redis: pass an object whose eval calls client.eval(script, { keys, arguments })",
    ),
  );
});

it.each([
  "NOPERM User jobs has no permissions to run the 'eval' command",
  "ERR Error running script (call to f_1): @user_script:2: @user_script: 2: NOPERM this user has no permissions to run the 'info' command",
  "ERR The user executing the script can't run this command or subcommand script: 5e0402c9, on @user_script:2.",
  "ERR ACL failure in script: User jobs has no permissions to run the 'info' command script: 1, on @user_script:2.",
])("names the rights that its user lacks: %s", async (message) => {
  const refusal = new Error(message);
  const lock = new RedisLock({ eval: () => Promise.reject(refusal) }, { key: "jobs" });
  const error = await errorOf(lock.get(signal));
  expect(error).toMatchObject({
    message:
      "key jobs of Redis: the user of Redis lacks rights: grant it +eval +info +time +hmget +hset and the key",
    cause: refusal,
  });
});

it.each([
  "READONLY You can't write against a read only replica.",
  "ERR Error running script (call to f_1): @user_script:5: -READONLY You can't write against a read only replica.",
  "READONLY You can't write against a read only replica. script: 5e0402c9, on @user_script:5.",
])("says that its server is a replica, and what to do: %s", async (message) => {
  const refusal = new Error(message);
  const lock = new RedisLock({ eval: () => Promise.reject(refusal) }, { key: "jobs" });
  const error = await errorOf(lock.get(signal));
  expect(error).toMatchObject({
    message:
      "key jobs of Redis: the server is a replica and read-only: connect to the primary, with reconnectOnError of ioredis after a fail-over",
    cause: refusal,
  });
});
