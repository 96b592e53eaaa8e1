import { requireOptions } from "@holdfast/kit";
import { describe, expect, it } from "vitest";

const NAMES = {
  backoff: true,
  retries: true,
  maxElapsed: true,
  timeout: true,
  signal: true,
} as const;

function refusalOf(options: object, names: Readonly<Record<string, true>> = NAMES): string {
  try {
    requireOptions("options", options, "retry", names);
    return "accepted";
  } catch (error) {
    return String(error);
  }
}

describe("an unknown option", () => {
  it.each([
    ["maxAttempts", "retries"],
    ["maxRetries", "retries"],
    ["timeoutMs", "timeout"],
    ["timeoutMillis", "timeout"],
    ["timeoutMilliseconds", "timeout"],
    ["timeoutSeconds", "timeout"],
    ["TIMEOUT", "timeout"],
    ["timout", "timeout"],
    ["tiemout", "timeout"],
    ["imeoutt", "timeout"],
    ["maxElapsedMs", "maxElapsed"],
    ["maxRetryTime", "maxElapsed"],
    ["singal", "signal"],
    ["backof", "backoff"],
    ["tries", "retries"],
  ])("%s is refused, with options.%s as the likely one", (name, likely) => {
    expect(refusalOf({ [name]: 3 })).toBe(
      `TypeError: options.${name} is not an option of retry; did you mean options.${likely}?`,
    );
  });

  it.each([
    ["attempts", ["steps", "retries"]],
    ["concurrency", ["workers"]],
    ["delay", ["interval", "duration", "after"]],
    ["factor", ["multiplier"]],
    ["initialDelay", ["duration"]],
    ["interval", ["duration"]],
    ["limit", ["cap", "retries"]],
    ["maxAttempts", ["steps", "retries"]],
    ["maxDelay", ["cap"]],
    ["maxInterval", ["cap"]],
    ["maxRetries", ["retries"]],
    ["maxRetryTime", ["timeout", "maxElapsed"]],
    ["maxTimeout", ["cap"]],
    ["minTimeout", ["duration"]],
    ["multiplier", ["factor"]],
    ["onFailedAttempt", ["onRetry"]],
    ["period", ["interval"]],
    ["retries", ["maxAttempts"]],
    ["tries", ["retries"]],
  ])("%s stands for the last one that the door has of %j", (name, words) => {
    const names: Record<string, true> = {};
    for (const word of words) {
      names[word] = true;
      expect(refusalOf({ [name]: 3 }, { ...names, colour: true })).toContain(
        `did you mean options.${word}?`,
      );
    }
  });

  it.each([
    ["rey", "ref", "one error in three letters", true],
    ["ryy", "ref", "two errors in three letters", false],
    ["attmptTimeot", "attemptTimeout", "two errors", true],
    ["attmptTimot", "attemptTimeout", "three errors", false],
    ["itemsMaxMs", "itemsMax", "a unit at its end only", true],
  ])("%s may mean %s: %s", (name, known, _, isLikely) => {
    expect(refusalOf({ [name]: 1 }, { [known]: true }).includes("did you mean")).toBe(isLikely);
  });

  it("without a likely one is refused with all options of the door", () => {
    expect(refusalOf({ colour: 3 })).toBe(
      "TypeError: options.colour is not an option of retry: it has backoff, retries, maxElapsed, timeout, signal",
    );
  });

  it("between two names means the nearer one", () => {
    expect(refusalOf({ timeouts: 1 }, { timeBound: true, timers: true, timeout: true })).toContain(
      "did you mean options.timeout?",
    );
    expect(refusalOf({ retrye: 1 }, { retries: true, retry: true })).toContain("options.retry?");
  });

  it("of 10,000 characters is shown in part", () => {
    expect(refusalOf({ ["x".repeat(10_000)]: 1 }).length).toBeLessThan(300);
  });

  it("inherited from plain defaults is refused, too", () => {
    expect(refusalOf(Object.create({ maxAttempts: 3 }))).toContain("did you mean options.retries?");
    expect(refusalOf(Object.assign(Object.create(null), { maxAttempts: 3 }))).toContain("retries");
  });
});

it.each([
  ["no options", {}],
  ["known options", { retries: 3, timeout: 5 }],
  ["an unknown one that is undefined", { maxAttempts: undefined }],
  ["inherited ones", Object.create({ retries: 3 })],
  [
    "an instance of a class with members of its own",
    new (class Settings {
      readonly retries = 3;
      readonly file = "settings.json";
    })(),
  ],
  ["a name of Object.prototype that is not set", Object.create({})],
])("accepts %s", (_, options) => {
  expect(refusalOf(options as object)).toBe("accepted");
});

it("reads no value of a known option, and that of an unknown one once", () => {
  const reads: PropertyKey[] = [];
  const recording = (options: object): object =>
    new Proxy(options, {
      get(target, name) {
        reads.push(name);
        return Reflect.get(target, name) as unknown;
      },
    });
  expect(refusalOf(recording({ retries: 3, colour: undefined, timeout: 5 }))).toBe("accepted");
  expect(refusalOf(recording({ retries: 3, timout: 5 }))).toContain("options.timeout?");
  expect(reads).toEqual(["colour", "timout"]);
});

it("does not take names of Object.prototype for options", () => {
  expect(refusalOf({ constructor: 1 })).toContain("options.constructor is not an option of retry");
  expect(refusalOf({ toString: () => "" })).toContain("options.toString is not an option of retry");
});
