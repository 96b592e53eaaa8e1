import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  consoleLogger,
  jsonLogger,
  LeaderElector,
  type Logger,
  Manager,
  MemoryLock,
  silentLogger,
} from "@holdfast/controller";
import { pino } from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";

const levels = ["debug", "info", "warn", "error"] as const;

/** What is printed meanwhile, line by line. */
function jsonLines(print: () => void): unknown[] {
  const log = vi.spyOn(console, "log").mockReturnValue();
  print();
  const texts = log.mock.calls.map((values) => {
    expect(values).toHaveLength(1);
    return String(values[0]);
  });
  log.mockRestore();
  expect(texts.join("")).not.toContain("\n");
  return texts.map((text) => JSON.parse(text) as unknown);
}

describe("a logger", () => {
  it("can be a pino logger without an adapter", () => {
    const lines: unknown[] = [];
    const write = (line: string): void => {
      const { level, key, msg } = JSON.parse(line) as Record<string, unknown>;
      lines.push([level, key, msg]);
    };
    const logger: Logger = pino({ level: "debug" }, { write });
    for (const level of levels) logger[level]({ key: "a" }, `at ${level}`);
    expect(lines).toEqual([
      [20, "a", "at debug"],
      [30, "a", "at info"],
      [40, "a", "at warn"],
      [50, "a", "at error"],
    ]);
  });

  it.each(levels)("of the console writes the message, then the details: %s", (level) => {
    const method = vi.spyOn(console, level).mockReturnValue();
    consoleLogger[level]({ key: "a" }, "hello");
    expect(method.mock.calls).toEqual([["hello", { key: "a" }]]);
    method.mockRestore();
  });

  it.each(levels)("of the console prints no empty details: %s", (level) => {
    const method = vi.spyOn(console, level).mockReturnValue();
    const error = new Error("boom");
    consoleLogger[level]({}, "hello");
    consoleLogger[level](error, "hello");
    expect(method.mock.calls).toEqual([["hello"], ["hello", error]]);
    method.mockRestore();
  });

  it.each(levels)("of JSON writes one line per record: %s", (level) => {
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED", token: "t0k3n" });
    const err = new Error("two\nlines", { cause });
    expect(jsonLines(() => jsonLogger[level]({ key: "a", err }, "failed\nat a"))).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level,
        msg: "failed\nat a",
        key: "a",
        err: {
          name: "Error",
          message: "two\nlines",
          stack: expect.stringMatching(/^Error: two\nlines\n +at /),
          cause: {
            name: "Error",
            message: "refused",
            code: "ECONNREFUSED",
            stack: expect.stringContaining("Error: refused"),
          },
        },
      },
    ]);
  });

  it("of JSON writes every value, and its own fields first", () => {
    const circle: Record<string, unknown> = { id: 10n, time: 1, level: 2, msg: 3, text: "100 %s" };
    circle["self"] = circle;
    circle["cause"] = new AggregateError([new Error("a")], "all");
    circle["bad"] = { toJSON: () => expect.fail("not readable") };
    circle["date"] = new Date(0);
    const same = { a: 1 };
    const [line, bare] = jsonLines(() => {
      jsonLogger.info({ ...circle, same, again: [same] }, "hello");
      jsonLogger.error(new Error("boom"), "failed");
    });
    expect(Object.keys(line as object).slice(0, 3)).toEqual(["time", "level", "msg"]);
    expect(line).toMatchObject({
      level: "info",
      msg: "hello",
      id: "10",
      text: "100 %s",
      self: { self: "[circular]" },
      cause: { message: "all", errors: [{ message: "a" }] },
      bad: "[unreadable]",
      date: "1970-01-01T00:00:00.000Z",
      same,
      again: [same],
    });
    expect(bare).toMatchObject({ level: "error", msg: "failed", err: { message: "boom" } });
  });

  it.each(levels)("that is silent prints nothing: %s", (level) => {
    const method = vi.spyOn(console, level);
    expect(silentLogger[level]({}, "hello")).toBeUndefined();
    expect(method).not.toHaveBeenCalled();
    method.mockRestore();
  });
});

describe("without a logger, warnings and errors are printed, and nothing else", () => {
  function spies() {
    const calls: unknown[] = [];
    for (const level of levels)
      vi.spyOn(console, level).mockImplementation((message: string) => {
        calls.push([level, message]);
      });
    return calls;
  }

  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("by a manager", async () => {
    const calls = spies();
    const manager = new Manager();
    manager.add({ name: "a", run: () => Promise.reject(new Error("boom")) });
    await expect(manager.run()).rejects.toThrow();
    expect(calls).toEqual([["error", '"a" failed: boom']]);
  });

  it("by an elector", async () => {
    const calls = spies();
    const clock = new FakeClock();
    const lock = new MemoryLock();
    vi.spyOn(lock, "get").mockRejectedValueOnce(new Error("away"));
    const elector = new LeaderElector({ lock, identity: "a", lead: () => {}, once: true, clock });
    const run = elector.run(new AbortController().signal);
    await clock.step(10_000);
    await run;
    expect(calls).toEqual([["warn", "request to the lock failed: away"]]);
  });

  it("by a controller", async () => {
    const calls = spies();
    const clock = new FakeClock();
    const stop = new AbortController();
    const reconcile = (): never => {
      throw new Error("busy");
    };
    const controller = new Controller({ name: "a", reconcile, retries: 0, clock });
    const run = controller.run(stop.signal);
    controller.add("7");
    await clock.step(1);
    stop.abort();
    await run;
    expect(calls).toEqual([["error", expect.any(String)]]);
  });
});
