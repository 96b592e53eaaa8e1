import { Agent } from "node:http";
import { inspect } from "node:util";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it, vi } from "vitest";
import { bearer, CredentialCache, Credentials } from "../../src/transport/credentials.ts";
import { expectNoSecret, quietLogger, TOKEN } from "../secrets.ts";

const agent = new Agent();
const named = () => new Credentials(agent, bearer(TOKEN));

describe("credentials", () => {
  it("print as [hidden], alone or within other values", () => {
    const credentials = named();
    expect(inspect(credentials)).toBe("[hidden]");
    expect(JSON.stringify({ credentials })).toBe('{"credentials":"[hidden]"}');
    expectNoSecret({ credentials });
    expect(credentials.addTo({ accept: "x" })).toEqual({
      accept: "x",
      authorization: `Bearer ${TOKEN}`,
    });
  });

  it("are read once for all callers, and again when they expire", async () => {
    const clock = new FakeClock();
    const load = vi.fn(() => Promise.resolve(named()));
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger: quietLogger() });
    const [first, second] = await Promise.all([cache.get(), cache.get()]);
    expect(first).toBe(second);
    await clock.step(9_999);
    expect(await cache.get()).toBe(first);
    await clock.step(1);
    expect(await cache.get()).not.toBe(first);
    expect(load).toHaveBeenCalledTimes(2);
    expect(clock.waiters()).toBe(0);
  });

  it("are read again after an error", async () => {
    const error = new Error("no file");
    const load = vi.fn(() => Promise.resolve(named())).mockRejectedValueOnce(error);
    const cache = new CredentialCache({
      load,
      maxAge: 10_000,
      clock: new FakeClock(),
      logger: quietLogger(),
    });
    await expect(cache.get()).rejects.toBe(error);
    expect(await cache.get()).toBeInstanceOf(Credentials);
  });

  it("stay in use while they cannot be read again, with one warning, until they are refused", async () => {
    const clock = new FakeClock();
    const logger = quietLogger();
    const load = vi.fn(() => Promise.resolve(named()));
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger });
    const first = await cache.get();
    load.mockRejectedValue(new Error("no file"));
    for (const _ of [1, 2, 3]) {
      await clock.step(10_000);
      expect(await cache.get()).toBe(first);
    }
    expect(load).toHaveBeenCalledTimes(4);
    expect(logger.lines).toEqual([
      "warn: credentials not read; the last ones stay in use { reason: 'no file' }",
    ]);
    cache.forget(first);
    await expect(cache.get()).rejects.toThrow("no file");
  });

  it("give no reason that is not an error: it may be a secret", async () => {
    const clock = new FakeClock();
    const logger = quietLogger();
    const load = vi.fn(() => Promise.resolve(named()));
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger });
    const first = await cache.get();
    load.mockRejectedValue(TOKEN);
    await clock.step(10_000);
    expect(await cache.get()).toBe(first);
    expect(logger.lines).toEqual([
      "warn: credentials not read; the last ones stay in use { reason: 'string' }",
    ]);
  });

  it("that are refused while others are read leave those", async () => {
    const clock = new FakeClock();
    const load = vi.fn(() => Promise.resolve(named()));
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger: quietLogger() });
    const first = await cache.get();
    await clock.step(10_000);
    cache.forget(first);
    const second = await cache.get();
    expect(await cache.get()).toBe(second);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it("that cannot be read reject those who read them, and not who refuses others", async () => {
    const error = new Error("no file");
    const load = vi.fn(() => Promise.reject<Credentials>(error));
    const clock = new FakeClock();
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger: quietLogger() });
    const reading = cache.get();
    cache.forget(named());
    await expect(reading).rejects.toBe(error);
  });

  it("stay as they are when others are read again and fail, or are newer by then", async () => {
    let fail = (_error: Error): void => {};
    const failing = new Promise<Credentials>((_resolve, reject) => {
      fail = reject;
    });
    const clock = new FakeClock();
    const load = vi.fn(() => Promise.resolve(named())).mockReturnValueOnce(failing);
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger: quietLogger() });
    const first = cache.get();
    cache.forget(named());
    await clock.step(10_000);
    const second = await cache.get();
    fail(new Error("no file"));
    expect(await first).toBe(second);
    expect(await cache.get()).toBe(second);
  });

  it("invalidated late do not drop newer ones", async () => {
    const load = vi.fn(() => Promise.resolve(named()));
    const cache = new CredentialCache({
      load,
      maxAge: 10_000,
      clock: new FakeClock(),
      logger: quietLogger(),
    });
    const old = await cache.get();
    cache.forget(old);
    const fresh = await cache.get();
    cache.forget(old);
    expect(await cache.get()).toBe(fresh);
    expect(load).toHaveBeenCalledTimes(2);
  });
});

describe("a reading that hangs", () => {
  it("gets another one beside it, ever more seldom, and a late result counts", async () => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const logger = quietLogger();
    const times: number[] = [];
    const ends: ((credentials: Credentials) => void)[] = [];
    const load = (): Promise<Credentials> => {
      times.push(clock.monotonic() - start);
      return new Promise((resolve) => ends.push(resolve));
    };
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger });
    const first = cache.get();
    const old = named();
    ends[0]?.(old);
    expect(await first).toBe(old);
    for (let second = 0; second < 200; second++) {
      await clock.step(1_000);
      expect(await clock.run(() => cache.get())).toBe(old);
    }
    expect(times.map((time) => Math.round(time / 1_000))).toEqual([0, 10, 21, 41, 82, 162]);
    expect(logger.lines[0]).toBe(
      "warn: credentials not read; the last ones stay in use { reason: 'the reading has not ended after 10000 ms' }",
    );
    const late = named();
    ends[2]?.(late);
    ends[1]?.(old);
    await clock.step(0);
    expect(await clock.run(() => cache.get())).toBe(late);
  });

  it("holds up nobody for longer than its successor", async () => {
    const clock = new FakeClock();
    const load = vi.fn(() => Promise.resolve(named()));
    load.mockReturnValueOnce(new Promise(() => {}));
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger: quietLogger() });
    const first = cache.get();
    await clock.step(10_000);
    const second = await cache.get();
    expect(second).toBeInstanceOf(Credentials);
    expect(await first).toBe(second);
    expect(clock.waiters()).toBe(0);
  });

  it("ends for a caller that aborts, and leaves no timer and no listener", async () => {
    const clock = new FakeClock();
    const load = () => new Promise<Credentials>(() => {});
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger: quietLogger() });
    const stop = new AbortController();
    const first = cache.get(stop.signal).catch((error: unknown) => error);
    stop.abort("stop");
    expect(await first).toBe("stop");
    expect(clock.waiters()).toBe(0);
  });

  it("leaves its place to another one when the credentials are refused, and does not count", async () => {
    const clock = new FakeClock();
    const refused = named();
    const fresh = named();
    const asked: boolean[] = [];
    let end = (_credentials: Credentials): void => {};
    const load = (areRefused: boolean): Promise<Credentials> => {
      asked.push(areRefused);
      if (asked.length === 2) return new Promise((resolve) => (end = resolve));
      return Promise.resolve(areRefused ? fresh : refused);
    };
    const cache = new CredentialCache({ load, maxAge: 10_000, clock, logger: quietLogger() });
    const first = await cache.get();
    await clock.step(10_000);
    const before = cache.get();
    cache.forget(first);
    expect(await cache.get()).toBe(fresh);
    expect(await before).toBe(fresh);
    end(refused);
    await clock.step(0);
    expect(await cache.get()).toBe(fresh);
    expect(asked).toEqual([false, false, true]);
    expect(clock.waiters()).toBe(0);
  });
});
