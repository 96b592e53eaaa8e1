import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { LiveView } from "../../src/run/view/live-view.ts";
import { createPalette } from "../../src/run/view/palette.ts";
import { FakeTerminal } from "./fake-terminal.ts";

function liveView() {
  const clock = new FakeClock();
  const terminal = new FakeTerminal(60);
  const { stream } = terminal;
  const palette = createPalette(false);
  const start = clock.monotonic();
  const view = new LiveView({ clock, stream, palette, file: "my.yaml", start, duration: 9_000 });
  return { clock, terminal, view };
}

it("redraws each second until it is closed", async () => {
  const { clock, terminal, view } = liveView();
  await clock.step(2_500);
  view.close();
  await clock.step(2_500);
  const times = terminal.frames.flatMap((frame) => frame.match(/\d+s of 9s/g) ?? []);
  expect(times).toEqual(["1s of 9s", "2s of 9s", "3s of 9s"]);
  expect(clock.waiters()).toBe(0);
  expect(terminal.listenerCount("resize")).toBe(0);
});

it("redraws when the terminal is resized", () => {
  const { terminal, view } = liveView();
  terminal.columns = 12;
  terminal.emit("resize");
  expect(terminal.frames.at(-1)).toContain("my.yaml  0…");
  view.close();
});

it("shows the errors of a bad edit until a good one", () => {
  const { terminal, view } = liveView();
  const error = { file: "my.yaml", line: 1, column: 8, message: "grace is 3", source: "grace: 3" };
  view.show({ type: "rejected", at: 0, errors: [error] }, new Map());
  expect(terminal.frames.at(-1)).toContain("my.yaml:1:8: grace is 3");
  view.show({ type: "applied", at: 0, file: "my.yaml", actions: [] }, new Map());
  view.close();
  expect(terminal.frames.at(-1)).toContain("nothing to change");
  expect(terminal.frames.at(-1)).not.toContain("my.yaml:1:8");
});

it("shows the effect of a second Ctrl-C until all processes have ended", () => {
  const { terminal, view } = liveView();
  view.show({ type: "shutdown", at: 0, why: "SIGINT" }, new Map());
  expect(terminal.frames.at(-1)).toContain("stopping, Ctrl-C kills");
  view.close();
  expect(terminal.frames.at(-1)).toContain("ended");
});
