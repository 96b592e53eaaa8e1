import { Deadline, timeLeft } from "@holdfast/wait/limit";
import { expect, it } from "vitest";
import { youngGarbageKept } from "../../../../test/collect-garbage.ts";

// A signal in an old `WeakMap` outlives the collections of young objects, and so does what its value there reaches.
it("the signal of a deadline keeps nothing that only the options reach", async () => {
  const kept = await youngGarbageKept(() => {
    const bytes = new Array(1_000).fill(0);
    using deadline = new Deadline(1_000, { cause: () => bytes });
    return timeLeft(deadline.signal);
  });
  expect(kept).toBeLessThan(4_000);
});
