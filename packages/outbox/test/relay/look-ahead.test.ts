import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { LookAhead } from "../../src/relay/topic-queue.ts";

describe("LookAhead", () => {
  it.each([
    ["one for each worker at first", [], 4],
    ["one for each worker of a slow receiver", [1_000, 0, 0, 0], 4],
    ["the attempts of 50 ms", [5, 5, 5, 5], 10],
    ["ten for each worker of a fast receiver", [0, 0, 0, 1], 40],
    ["no other number before all workers have ended one", [1, 1, 1], 4],
    ["fewer again when the receiver gets slow", [1, 1, 1, 1, 250, 250, 250, 250], 4],
  ])("allows %s", async (_, pauses, limit) => {
    const clock = new FakeClock();
    const ahead = new LookAhead({ clock, workers: 4 });
    for (const pause of pauses) {
      await clock.step(pause);
      ahead.ended();
    }
    expect(ahead.limit).toBe(limit);
  });

  it.each([
    [3, 0, 40],
    [3, 1_000, 12],
    [100, 0, 400],
    [100, 1_000, 400],
  ])(
    "allows a batch of %i for each worker at least: after %i ms",
    async (batchSize, pause, limit) => {
      const clock = new FakeClock();
      const ahead = new LookAhead({ clock, workers: 4, batchSize });
      expect(ahead.limit).toBe(4 * batchSize);
      await clock.step(pause);
      for (let ended = 0; ended < 4; ended++) ahead.ended();
      expect(ahead.limit).toBe(limit);
    },
  );
});
