import { FakeClock } from "@holdfast/clock/testing";
import pc from "picocolors";
import { expect, it } from "vitest";
import { LiveView } from "../../src/grpc-connect/view/live-view.ts";
import { LogView } from "../../src/grpc-connect/view/log-view.ts";
import { FakeTerminal } from "../terminal/fake-terminal.ts";
import { attemptsAfter, eventsFrom } from "./sample.ts";

const colours = pc.createColors(false);

it("prints one line per change, and draws the timeline at the end", async () => {
  const clock = new FakeClock();
  let written = "";
  const write = (text: string) => (written += text);
  const start = clock.monotonic();
  const view = new LogView({ clock, write, colours, start, room: 62 });
  for (const [index, event] of eventsFrom(start).entries())
    view.show(event, attemptsAfter(index + 1, start));
  await clock.step(5_000);
  view.close();
  expect(written.split("\n").slice(0, 6)).toEqual([
    "00:00.010  refuse  attempt 1: ECONNREFUSED after 10ms, next attempt in 490ms",
    "00:02.500  hang    attempt 2: timed out after 2s, next attempt at once",
    "00:02.600  accept  attempt 3: accepted: SETTINGS frame after 99ms",
    "00:04.000  accept  attempt 3: lost after 1.5s",
    "",
    "PEER        0s        1s        2s        3s        4s",
  ]);
});

it("redraws ten times a second until it is closed", async () => {
  const clock = new FakeClock();
  const terminal = new FakeTerminal(62);
  const start = clock.monotonic();
  const view = new LiveView({ clock, stream: terminal.stream, colours, start });
  const [first] = eventsFrom(start);
  if (first !== undefined) view.show(first, attemptsAfter(1, start));
  await clock.step(1_000);
  terminal.emit("resize");
  view.close();
  const frames = terminal.frames.length;
  expect(terminal.frames.filter((frame) => frame.includes("refuse   1  ▒")).length).toBeGreaterThan(
    4,
  );
  await clock.step(1_000);
  expect(terminal.frames.length).toBe(frames);
  expect(clock.waiters()).toBe(0);
  expect(terminal.listenerCount("resize")).toBe(0);
});
