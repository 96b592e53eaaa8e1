import { consoleLogger, type Logger, silentLogger } from "@holdfast/controller";
import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";

const levels = ["debug", "info", "warn", "error"] as const;

describe("a logger", () => {
  it("of pino fits as it is", () => {
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

  it.each(levels)("that is silent says nothing: %s", (level) => {
    const method = vi.spyOn(console, level);
    expect(silentLogger[level]({}, "hello")).toBeUndefined();
    expect(method).not.toHaveBeenCalled();
    method.mockRestore();
  });
});
