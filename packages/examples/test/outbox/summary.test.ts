import pc from "picocolors";
import { expect, it } from "vitest";
import type { Outcome } from "../../src/outbox/delivery.ts";
import { LogView } from "../../src/outbox/log-view.ts";
import { NOTHING_SEEN } from "../../src/outbox/observe.ts";
import type { Progress } from "../../src/outbox/progress.ts";
import type { Overlap } from "../../src/outbox/receiver/overlap.ts";
import { summaryLines, summaryOf } from "../../src/outbox/summary.ts";

const colours = pc.createColors(false);

const progress: Progress = {
  ...NOTHING_SEEN,
  state: "running",
  trouble: undefined,
  elapsed: 12_345,
  messages: 100,
  open: 20,
  takenBack: 2,
  statuses: { pending: 10, retrying: 5, delivered: 62, dead: 1 },
  lock: { holder: "worker-2/recovery", since: 0, until: 6_000 },
  received: { attempts: 90, open: 3, effects: 62, duplicates: 7, overlaps: 0 },
  workers: [
    { name: "worker-2", pid: 2, state: "working" },
    { name: "worker-3", pid: 3, state: "killed" },
    { name: "worker-4", pid: 4, state: "working" },
    { name: "worker-5", pid: 5, state: "starting" },
  ],
  killed: 2,
  expired: 9,
};

const outcome: Outcome = {
  isSettled: true,
  isIdle: true,
  progress,
  failed: 0,
  overlapping: [],
  audit: {
    sent: 98,
    delivered: 97,
    retried: 20,
    dead: 1,
    discarded: 0,
    unplaced: 0,
    waiting: 0,
    missing: 0,
    lost: 0,
    givenUpEarly: 0,
    twice: 0,
    phantoms: 0,
  },
};

it("logs a line periodically, and for each kill", () => {
  const written: string[] = [];
  const view = new LogView((line) => written.push(line));
  const at = (elapsed: number, killed = 2): void => view.show({ ...progress, elapsed, killed });
  at(0);
  at(1_999);
  at(2_000);
  at(2_001, 3);
  at(4_000, 3);
  at(4_001, 3);
  const stamps = written.map((line) => line.split(" ")[0]);
  expect(stamps).toEqual(["00:00.000", "00:02.000", "00:02.001", "00:04.001"]);
});

it("reports messages that were discarded", () => {
  const summary = summaryOf({ ...outcome, audit: { ...outcome.audit, discarded: 1 } }, 7);
  expect(summaryLines(summary, colours)).toContain(
    "discarded          1  dead messages that you have removed",
  );
});

it("reports success for a correct run", () => {
  const summary = summaryOf(outcome, 7);
  expect(summary).toMatchObject({ seed: 7, elapsed: 12_345, killed: 2, duplicates: 7, faults: [] });
  const lines = summaryLines(summary, colours);
  expect(lines[0]).toBe("After 12s, seed 7");
  expect(lines).toContain("sent              98  committed orders, each with its message");
  expect(lines.at(-1)).toBe("All checks passed.");
});

it.each([
  {
    wrong: { isSettled: false, audit: { ...outcome.audit, unplaced: 10, waiting: 3 } },
    fault: "stopped before every message was settled",
  },
  { wrong: { audit: { ...outcome.audit, waiting: 3 } }, fault: "waiting: 3, must be 0" },
  {
    wrong: { isIdle: false },
    fault: "the receiver was still busy: messages it had not handled count as lost",
  },
  { wrong: { failed: 1 }, fault: "workers that exited unexpectedly: 1, must be 0" },
  { wrong: { audit: { ...outcome.audit, lost: 2 } }, fault: "lost: 2, must be 0" },
  {
    wrong: { progress: { ...progress, received: { ...progress.received, overlaps: 1 } } },
    fault: "overlaps: 1, must be 0",
  },
])("reports '$fault'", ({ wrong, fault }) => {
  const summary = summaryOf({ ...outcome, ...wrong }, 7);
  expect(summary.faults).toEqual([fault]);
  expect(summaryLines(summary, colours).at(-1)).toBe(fault);
});

it("counts only committed and missing messages as lost after a stop", () => {
  const audit = { ...outcome.audit, unplaced: 700, waiting: 90 };
  const linesOf = (changes: Partial<typeof audit>) =>
    summaryLines(
      summaryOf({ ...outcome, isSettled: false, audit: { ...audit, ...changes } }, 7),
      colours,
    );
  expect(linesOf({})).toEqual(
    expect.arrayContaining([
      "waiting           90  messages in the outbox: a relay would send them next",
      "not placed       700  orders that the run did not reach",
      "lost               0  committed messages that are gone",
    ]),
  );
  expect(linesOf({ lost: 2, missing: 1 })).toContain(
    "lost               3  committed messages that are gone",
  );
});

it("omits remaining orders and messages when there are none", () => {
  const lines = summaryLines(summaryOf(outcome, 7), colours).join("\n");
  expect(lines).not.toMatch(/waiting|not placed/);
});

it("describes each overlap, in words and as data", () => {
  const overlap: Overlap = {
    id: "m-1",
    earlier: { attempt: 2, sender: "worker-1", fault: "hang" },
    later: { attempt: 3, sender: undefined, fault: undefined },
    open: 1_600,
    stood: 40,
  };
  const overlapping = Array.from({ length: 11 }, () => overlap);
  const received = { ...progress.received, overlaps: 11 };
  const wrong = { progress: { ...progress, received }, overlapping, failed: 1 };
  const summary = summaryOf({ ...outcome, ...wrong }, 7);
  expect(summary.overlapping).toEqual(overlapping);
  const told =
    "  m-1: attempt 3 of an unknown sender (unread) came 1600 ms after attempt 2 of worker-1 (hang); the receiver stood still for up to 40 ms";
  expect(summaryLines(summary, colours).slice(-12)).toEqual([
    "workers that exited unexpectedly: 1, must be 0",
    "overlaps: 11, must be 0",
    ...Array.from({ length: 10 }, () => told),
  ]);
});
