import pc from "picocolors";
import { expect, it } from "vitest";
import { isKept, logLine, summaryLines } from "../../src/grpc-connect/report.ts";
import { attemptsAfter, eventsFrom } from "./sample.ts";

const canvas = { room: 100, colours: pc.createColors(false) };

it("prints a line per change", () => {
  const lines = eventsFrom(0).map((event, index) => {
    const last = attemptsAfter(index + 1).at(-1);
    return last && logLine(event, event.at, last, canvas.colours);
  });
  expect(lines.filter((line) => line !== undefined)).toEqual([
    "00:00.010  refuse  attempt 1: ECONNREFUSED after 10ms, next attempt in 490ms",
    "00:02.500  hang    attempt 2: timed out after 2s, next attempt at once",
    "00:02.600  accept  attempt 3: accepted: SETTINGS frame after 99ms",
    "00:04.000  accept  attempt 3: lost after 1.5s",
  ]);
});

it("compares planned and actual starts of attempts", () => {
  expect(summaryLines(attemptsAfter(8), canvas).slice(3)).toEqual([
    "PEER    ATTEMPT  ENDED AS                DELAY    PLANNED   MEASURED  DIFFERENCE",
    "refuse        1  ECONNREFUSED         500.0 ms   500.0 ms   500.0 ms     +0.0 ms",
    "hang          2  timed out            800.0 ms  2000.0 ms  2001.5 ms     +1.5 ms",
    "accept        3  accepted, then lost  500.0 ms  1498.5 ms  1498.5 ms     +0.0 ms",
    "refuse        1  stopped              500.0 ms          -          -           -",
    "",
    "No attempt started too early.",
  ]);
});

it("says when an attempt started too early", () => {
  const [first, second, ...rest] = attemptsAfter(8);
  if (first === undefined || second === undefined) throw new Error("too few attempts");
  const early = [first, { ...second, startedAt: 499.5 }, ...rest];
  expect([isKept(attemptsAfter(8)), isKept(early)]).toEqual([true, false]);
  const lines = summaryLines(early, canvas);
  expect(lines[4]).toContain("-0.5 ms");
  expect(lines.at(-1)).toBe("An attempt started too early!");
});

it("has nothing to compare before there are two attempts", () => {
  for (const count of [0, 1, 2]) expect(isKept(attemptsAfter(count))).toBe(true);
});
