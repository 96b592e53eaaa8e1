import { expect, it } from "vitest";
import { nextDue, reduce } from "../../src/grpc-connect/attempt.ts";
import { attemptsAfter, eventsFrom } from "./sample.ts";

it("follows each attempt to its end", () => {
  const phases = eventsFrom(0).map((_, index) =>
    attemptsAfter(index + 1).map(({ phase }) => phase),
  );
  expect(phases).toEqual([
    ["connecting"],
    ["failed"],
    ["failed", "connecting"],
    ["failed", "failed"],
    ["failed", "failed", "connecting"],
    ["failed", "failed", "connected"],
    ["failed", "failed", "lost"],
    ["failed", "failed", "lost", "connecting"],
  ]);
});

it("knows when the next one may start: after the delay, or after the end if that is later", () => {
  expect(attemptsAfter(8).map(nextDue)).toEqual([500, 2_500, 4_000, undefined]);
});

it("treats an end without a start as a bug", () => {
  expect(() => reduce([], { type: "lost", at: 0 })).toThrow('"lost" before any attempt');
});
