import { FakeClock } from "@holdfast/clock/testing";
import { RepeatedLines } from "@holdfast/kit";
import { expect, it } from "vitest";

it("logs the first failure of a text, then one a minute with the number of them", async () => {
  const clock = new FakeClock();
  const lines = new RepeatedLines(clock);
  const logged: unknown[] = [];
  for (let second = 0; second < 150; second++) {
    logged.push(lines.detailsOf("down"));
    await clock.step(1_000);
  }
  expect(logged.filter((one) => one !== undefined)).toEqual([{}, { count: 60 }, { count: 60 }]);
});

it.each([
  ["down", "refused"],
  ["HTTP 503 from https://a", "HTTP 404 from https://a"],
])("logs %j and %j, which are two texts", (...texts) => {
  const lines = new RepeatedLines(new FakeClock());
  for (const text of texts) expect(lines.detailsOf(text)).toEqual({});
});

it.each([
  ["grants none for 4812 ms", "grants none for 4.5 ms"],
  ["connect ECONNREFUSED 10.0.0.7:5432", "connect ECONNREFUSED 10.0.0.81:6432"],
  ["request 3f9c-aa1 failed", "request b-77ce0 failed"],
  ["timed out after 1s", "timed out after 2s"],
])("takes %j and %j for one text", (first, second) => {
  const lines = new RepeatedLines(new FakeClock());
  expect([lines.detailsOf(first), lines.detailsOf(second)]).toEqual([{}, undefined]);
  expect(lines.detailsOf(first, "slot-1")).toEqual({});
  expect(lines.detailsOf(first, "slot-2")).toEqual({});
});

it("logs a hundred texts, and one line a minute for all others", async () => {
  const clock = new FakeClock();
  const lines = new RepeatedLines(clock);
  const subjects = Array.from({ length: 150 }, (_, i) => `part ${i}`);
  const logged: unknown[][] = [];
  for (let second = 0; second < 180; second++) {
    const details = subjects.map((subject) => lines.detailsOf("down", subject));
    logged.push(details.filter((one) => one !== undefined));
    await clock.step(1_000);
  }
  const own = (details: object) => Array.from({ length: 100 }, () => details);
  expect(logged[0]).toEqual([...own({}), { others: 1 }]);
  expect(logged[60]).toEqual([...own({ count: 60 }), { others: 50 * 60 }]);
  expect(logged[120]).toEqual([...own({ count: 60 }), { others: 50 * 60 }]);
  expect(logged.flat()).toHaveLength(3 * 101);
  await clock.step(58_999);
  expect(lines.isQuiet).toBe(false);
  await clock.step(1);
  expect([lines.isQuiet, lines.detailsOf("down", "part 149")]).toEqual([true, {}]);
});
