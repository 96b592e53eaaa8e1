import pc from "picocolors";
import { expect, it } from "vitest";
import { legend, timeLine } from "../../src/grpc-connect/view/time-line.ts";
import { attemptsAfter } from "./sample.ts";

const colours = pc.createColors(false);

function drawn(events: number, now: number, span = 5_000): string[] {
  return timeLine(attemptsAfter(events), { colours, room: 62, start: 0, span, now });
}

it("draws connections, failures, holds and delays with their lengths", () => {
  expect(drawn(8, 4_200)).toEqual([
    "PEER        0s        1s        2s        3s        4s",
    "refuse   1  ×────",
    "hang     2       ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒×",
    "accept   3                           ▒━━━━━━━━━━━━━━╳",
    "refuse   1                                          ▒▒▒··",
  ]);
});

it("draws the rest of a delay", () => {
  expect(drawn(2, 200).at(-1)).toBe("refuse   1  ×──··");
});

it("draws a delay up to the end of a longer timeout", () => {
  expect(drawn(3, 1_000).at(-1)).toBe("hang     2       ▒▒▒▒▒▒··");
  expect(drawn(3, 2_000).at(-1)).toBe("hang     2       ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒");
});

it.each([
  { span: 1_000, marks: "0s        0.2s      0.4s      0.6s      0.8s" },
  { span: 20_000, marks: "0s          5s           10s         15s" },
  { span: 36_000_000, marks: "" },
])("marks its axis so that the marks have room ($span ms)", ({ span, marks }) => {
  expect(drawn(0, 0, span)).toEqual([`PEER        ${marks}`]);
});

it("keeps its rows within the room it has", () => {
  for (const line of drawn(8, 4_200, 4_200)) expect(line.length).toBeLessThanOrEqual(62);
});

it("is coloured only with colour support", () => {
  const canvas = { room: 62, start: 0, span: 5_000, now: 4_200 };
  const painted = timeLine(attemptsAfter(8), { ...canvas, colours: pc.createColors(true) });
  expect(drawn(8, 4_200).join("")).not.toContain("\u001b");
  expect(painted.join("")).toContain("\u001b[32m━\u001b[39m");
  expect(legend(colours)).toContain("━ connected");
});
