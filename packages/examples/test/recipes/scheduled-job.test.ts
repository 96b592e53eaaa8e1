import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock } from "@holdfast/controller";
import { Cron } from "croner";
import { expect, it } from "vitest";
import { nextOf, type Runs, scheduler } from "../../src/recipes/scheduled-job.ts";

it("does the report on the other replica after the first one stops", async () => {
  const clock = new FakeClock({ now: Date.UTC(2026, 0, 2) });
  const lock = new MemoryLock();
  const saved = new Map<string, Date>();
  const runs: Runs = {
    last: async (job) => saved.get(job),
    save: async (job, due) => void saved.set(job, due),
  };
  const reports: string[] = [];
  const start = (identity: string, stop: AbortController) => {
    const report = {
      name: "report",
      times: [new Cron("0 3 * * *", { timezone: "Europe/Berlin" })],
      run: async (due: Date) => void reports.push(`${identity} ${due.toISOString()}`),
    };
    return scheduler(report, { lock, runs, identity, clock }).run(stop.signal);
  };
  const [stopA, stopB] = [new AbortController(), new AbortController()];
  const a = start("a", stopA);
  await clock.step(10);
  const b = start("b", stopB);
  await clock.step(3_600_000);
  stopA.abort();
  await a;
  await clock.step(3_600_000);
  stopB.abort();
  await b;
  expect(reports).toEqual(["b 2026-01-02T02:00:00.000Z"]);
});

it.each([
  ["Europe/Berlin", "2026-03-29", ["30 2 * * *"], ["03:00"]],
  ["Europe/Berlin", "2026-03-29", ["30 2 * * *", "30 4 * * *"], ["03:00", "04:30"]],
  ["Europe/Berlin", "2026-03-29", ["0 2 * * *", "30 2 * * *"], ["03:00"]],
  ["Europe/Berlin", "2026-10-25", ["30 2 * * *", "30 4 * * *"], ["02:30", "04:30"]],
  ["America/New_York", "2026-03-08", ["30 2 * * 0", "30 4 * * 0"], ["03:00", "04:30"]],
  ["America/New_York", "2026-11-01", ["0 1 * * *", "30 1 * * *"], ["01:00", "01:30"]],
  ["Australia/Lord_Howe", "2026-10-04", ["0 2 * * *", "15 2 * * *"], ["02:30"]],
  ["Australia/Lord_Howe", "2026-04-05", ["30 1 * * *", "45 1 * * *"], ["01:30", "01:45"]],
])("in %s, the clocks change on %s: %j are due at %j", (timezone, date, patterns, expected) => {
  const times = patterns.map((pattern) => new Cron(pattern, { timezone }));
  const due: string[] = [];
  let last: Date | undefined = new Date(Date.parse(date) - 24 * 3_600_000);
  for (;;) {
    last = nextOf(times, last);
    const [day = "", time = ""] =
      last?.toLocaleString("sv", { timeZone: timezone }).split(" ") ?? [];
    if (last === undefined || day > date) break;
    if (day === date) due.push(time.slice(0, 5));
  }
  expect(due).toEqual(expected);
});
