import { describe, expect, it } from "vitest";
import {
  type NextStep,
  nextStep,
  type SessionEnd,
  type StepFacts,
} from "../../src/reflect/next-step.ts";

const calm: StepFacts = {
  request: "watch",
  isProbe: false,
  isHealthy: false,
  hasAdvanced: false,
  fruitless: 0,
  isShort: false,
  sinceList: 60_000,
  silentFor: 30_000,
  watches: 1,
};
const healthy: Partial<StepFacts> = { isHealthy: true };
const moved: Partial<StepFacts> = { isHealthy: true, hasAdvanced: true };
const listing: Partial<StepFacts> = { request: "list" };
const short: Partial<StepFacts> = { isShort: true };
const crowded: Partial<StepFacts> = { isHealthy: true, hasAdvanced: true, watches: 5 };

const closed: SessionEnd = { kind: "closed", isFull: false };
const full: SessionEnd = { kind: "closed", isFull: true };
const idle: SessionEnd = { kind: "idle" };
const failed: SessionEnd = { kind: "failed", error: new Error("reset") };
const busy: SessionEnd = { kind: "busy", after: 7_000 };
const expired: SessionEnd = { kind: "expired" };

type Row = [name: string, end: SessionEnd, facts: Partial<StepFacts>, next: string];

// `!` after the name of the request: the probe comes first. `*`: the backoff is reset before the delay. `short`: the watch
// ends before the idle timeout.
const rows: Row[] = [
  ["close after an event or a bookmark", closed, moved, "watch none *"],
  ["close after 5 s", closed, healthy, "watch none *"],
  [
    "close after an event, after fruitless ones",
    closed,
    { ...moved, fruitless: 2 },
    "watch none *",
  ],
  [
    "close after 5 s, after fruitless ones",
    closed,
    { ...healthy, fruitless: 2 },
    "watch none * fruitless 2",
  ],
  ["close without these", closed, {}, "watch backoff fruitless 1"],
  ["the second in a row", closed, { fruitless: 1 }, "watch backoff fruitless 2"],
  ["the third in a row", closed, { fruitless: 2 }, "list backoff"],
  ["close of a list", closed, { ...listing, fruitless: 2 }, "watch backoff"],
  ["no byte for the idle timeout", idle, {}, "watch! none short fruitless 1"],
  ["no byte, the third in a row", idle, { fruitless: 2 }, "list none"],
  ["no byte after an event", idle, moved, "watch! none *"],
  ["no byte of a list", idle, listing, "list backoff"],
  ["410", expired, {}, "list none"],
  ["410 within 10 s after a list", expired, { sinceList: 9_999 }, "list backoff"],
  ["410 after 10 s", expired, { sinceList: 10_000 }, "list none"],
  ["410 for a list", expired, listing, "list backoff"],
  ["410 after an event", expired, moved, "list none *"],
  ["429 or 503 with a time", busy, {}, "watch! 7000"],
  ["the same for a list", busy, listing, "list 7000"],
  ["the same when crowded", busy, crowded, "watch! 7000"],
  ["the same between fruitless watches", busy, { fruitless: 2 }, "watch! 7000 fruitless 2"],
  ["another error", failed, {}, "watch! backoff fruitless 1"],
  ["another error, the third in a row", failed, { fruitless: 2 }, "list backoff"],
  ["another error after 5 s", failed, healthy, "watch! backoff * fruitless 1"],
  ["another error after an event", failed, { ...moved, fruitless: 2 }, "watch! backoff *"],
  [
    "another error of the probe",
    failed,
    { isProbe: true, fruitless: 2 },
    "watch! backoff fruitless 2",
  ],
  ["another error of a list", failed, listing, "list backoff"],
  ["a restore", { kind: "rollback" }, {}, "list none"],
  ["an own write that was not shown", { kind: "missed-write" }, {}, "list none"],
  ["a list that was asked for", { kind: "relist" }, moved, "list none *"],
  ["close after 599.999 s of silence", closed, { ...healthy, silentFor: 599_999 }, "watch none *"],
  ["close after 10 minutes of silence", closed, { ...healthy, silentFor: 600_000 }, "list none *"],
  ["429 with a time after 10 minutes of silence", busy, { silentFor: 600_000 }, "list 7000"],
  ["the fourth watch within 10 s", closed, { ...moved, watches: 4 }, "watch none *"],
  ["the fifth watch within 10 s, whatever it brought", closed, crowded, "watch backoff"],
  ["a restore when crowded", { kind: "rollback" }, crowded, "list backoff"],
  [
    "an own write that was not shown when crowded",
    { kind: "missed-write" },
    crowded,
    "list backoff",
  ],
  ["no byte when crowded", idle, crowded, "watch! backoff"],
  ["close at its time, after a fruitless one", full, { ...healthy, fruitless: 2 }, "watch! none *"],
  ["close of a short watch at its time", full, { ...healthy, ...short }, "watch! none * short"],
  ["close of a short watch after an event", full, { ...moved, ...short }, "watch none *"],
  ["no byte of a short watch", idle, { ...short, fruitless: 1 }, "watch! none short fruitless 2"],
  ["another error of a short watch", failed, short, "watch! backoff short fruitless 1"],
  ["410 of a short watch", expired, short, "list none"],
];

describe("a list and watch that ends with", () => {
  it.each(rows)("%s", (_, end, facts, next) => {
    expect(format(nextStep(end, { ...calm, ...facts }))).toBe(next);
  });
});

function format({ request, probe, delay, reset, isShort, fruitless }: NextStep): string {
  return [
    probe ? `${request}!` : request,
    delay,
    reset ? "*" : "",
    isShort ? "short" : "",
    fruitless > 0 ? `fruitless ${fruitless}` : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}
