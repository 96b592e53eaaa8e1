import { FakeClock } from "@holdfast/clock/testing";
import { RepeatedLines } from "@holdfast/kit";
import { expect, it } from "vitest";

/** Asks each second for ten minutes, with another text each time. Returns the seconds of the lines, and what they stand for. */
async function linesOf(
  texts: (second: number) => string,
  lines: (clock: FakeClock) => RepeatedLines = (clock) => new RepeatedLines(clock),
): Promise<[second: number, count: number][]> {
  const clock = new FakeClock();
  const asked = lines(clock);
  const logged: [number, number][] = [];
  for (let second = 0; second <= 600; second++) {
    const details = asked.detailsOf("a", texts(second));
    if (details !== undefined) logged.push([second, details.count ?? 1]);
    await clock.step(1_000);
  }
  return logged;
}

/** The ten letters of a number: another word each time, without a digit. */
const word = (index: number): string =>
  [...String(index * 7_919)].map((digit) => "qwertyuiop"[Number(digit)]).join("");

it("logs a failure that repeats once a minute, with the number that each line stands for", async () => {
  const minutes = Array.from({ length: 10 }, (_, index) => [60 * (index + 1), 60]);
  expect(await linesOf(() => "down")).toEqual([[0, 1], ...minutes]);
});

it.each([
  ["another text each time", word],
  ["two texts in turn", (second: number) => ["down", "refused"][second % 2] as string],
])("logs %s once a minute, but for the first other text", async (_, texts) => {
  const [first, second, minute, ...others] = await linesOf(texts);
  expect([first, second, minute]).toEqual([
    [0, 1],
    [1, 1],
    [60, 59],
  ]);
  expect(others).toEqual(Array.from({ length: 9 }, (_, index) => [60 * (index + 2), 60]));
});

it("logs another text at once again after ten quiet minutes", async () => {
  const clock = new FakeClock();
  const lines = new RepeatedLines(clock);
  const ask = (...texts: string[]) => texts.map((text) => lines.detailsOf("a", text));
  expect(ask("down", "refused", "odd", "odd")).toEqual([{}, {}, undefined, undefined]);
  await clock.step(599_999);
  expect(ask("odd", "down")).toEqual([{ count: 3 }, undefined]);
  await clock.step(600_000);
  expect(ask("down", "refused", "odd")).toEqual([{ count: 2 }, {}, undefined]);
});

it.each([
  ["down", "refused"],
  ["HTTP 503 from https://a", "HTTP 404 from https://a"],
])("logs %j and %j, which are two texts", (...texts) => {
  const lines = new RepeatedLines(new FakeClock());
  for (const text of texts) expect(lines.detailsOf("a", text)).toEqual({});
});

it.each([
  ["grants none for 4812 ms", "grants none for 4.5 ms"],
  ["connect ECONNREFUSED 10.0.0.7:5432", "connect ECONNREFUSED 10.0.0.81:6432"],
  ["request 3f9c-aa1 failed", "request b-77ce0 failed"],
  ["timed out after 1s", "timed out after 2s"],
])("takes %j and %j for one text", (first, second) => {
  const lines = new RepeatedLines(new FakeClock());
  expect([lines.detailsOf("a", first), lines.detailsOf("a", second)]).toEqual([{}, undefined]);
  expect(lines.detailsOf("slot-1", first)).toEqual({});
  expect(lines.detailsOf("slot-2", first)).toEqual({});
});

it("logs a hundred subjects, and one line a minute for all others", async () => {
  const clock = new FakeClock();
  const lines = new RepeatedLines(clock);
  const subjects = Array.from({ length: 150 }, (_, i) => `part ${i}`);
  const logged: unknown[][] = [];
  for (let second = 0; second < 180; second++) {
    const details = subjects.map((subject) => lines.detailsOf(subject, "down"));
    logged.push(details.filter((one) => one !== undefined));
    await clock.step(1_000);
  }
  const own = (details: object) => Array.from({ length: 100 }, () => details);
  expect(logged[0]).toEqual([...own({}), { others: 1 }]);
  expect(logged[60]).toEqual([...own({ count: 60 }), { others: 50 * 60 }]);
  expect(logged[120]).toEqual([...own({ count: 60 }), { others: 50 * 60 }]);
  expect(logged.flat()).toHaveLength(3 * 101);
  await clock.step(59_000);
  expect(lines.detailsOf("part 149", "down")).toEqual({});
});

it("logs no more lines in a minute for other texts and subjects, and tells each failure once", async () => {
  const clock = new FakeClock();
  const lines = new RepeatedLines(clock, 10);
  const perMinute: number[] = [];
  let [failed, told] = [0, 0];
  for (let minute = 0; minute < 12; minute++) {
    perMinute.push(0);
    for (let second = 0; second < 60; second++) {
      // A quiet end: each of the last lines stands for all that were not told.
      const subjects = minute < 10 ? [0, 1, 2, 3, 4].map((at) => (failed * (at + 1)) % 13) : [];
      for (const subject of subjects) {
        const details = lines.detailsOf(`${subject}`, word(++failed));
        if (details === undefined) continue;
        told += details.count ?? details.others ?? 1;
        perMinute[minute] = (perMinute[minute] ?? 0) + 1;
      }
      await clock.step(1_000);
    }
  }
  for (let at = 0; at < 13; at++) {
    const details = lines.detailsOf(`${at}`, word(++failed));
    told += details?.count ?? details?.others ?? (details ? 1 : 0);
  }
  expect(Math.max(...perMinute)).toBeLessThanOrEqual(11);
  expect(failed - told).toBeLessThanOrEqual(10); // those of the line for others of this minute
});
