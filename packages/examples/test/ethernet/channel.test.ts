import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { Channel } from "../../src/ethernet/channel.ts";

const medium = { frame: 100, slot: 10, propagation: 5 };

/** Starts frames at given instants, whether or not the wire is free, and says when each ended how. */
async function outcomesOf(starts: readonly number[]): Promise<[number, string][]> {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const channel = new Channel(clock, medium, new AbortController().signal);
  const ends: [number, string][] = [];
  await clock.run(() =>
    Promise.all(
      starts.map(async (instant) => {
        await clock.sleep(instant);
        const outcome = await channel.send();
        ends.push([clock.monotonic() - start, outcome]);
      }),
    ),
  );
  return ends;
}

it.each([
  { name: "delivers the frame of one", starts: [0], want: [[100, "delivered"]] },
  {
    name: "delivers frames one after the other",
    starts: [0, 101],
    want: [
      [100, "delivered"],
      [201, "delivered"],
    ],
  },
  {
    name: "loses two frames of one instant, and one slot",
    starts: [0, 0],
    want: [
      [10, "collided"],
      [10, "collided"],
    ],
  },
  {
    name: "loses frames that start before the first is heard, and one slot of the first",
    starts: [0, 3, 4],
    want: [
      [10, "collided"],
      [10, "collided"],
      [10, "collided"],
    ],
  },
  {
    name: "is free after a collision",
    starts: [0, 3, 11],
    want: [
      [10, "collided"],
      [10, "collided"],
      [111, "delivered"],
    ],
  },
])("$name", async ({ starts, want }) => {
  expect(await outcomesOf(starts)).toEqual(want);
});

it("is heard after the propagation delay, until it is silent", async () => {
  const clock = new FakeClock();
  const channel = new Channel(clock, medium, new AbortController().signal);
  const heard: [number, boolean][] = [];
  const start = clock.monotonic();
  const sent = channel.send();
  for (const instant of [0, 4.999, 5, 99.999, 100]) {
    await clock.step(start + instant - clock.monotonic());
    heard.push([instant, channel.isHeard]);
  }
  expect(await sent).toBe("delivered");
  expect(heard).toEqual([
    [0, false],
    [4.999, false],
    [5, true],
    [99.999, true],
    [100, false],
  ]);
});

it("reports the silence to all listeners at its first instant", async () => {
  const clock = new FakeClock();
  const channel = new Channel(clock, medium, new AbortController().signal);
  const start = clock.monotonic();
  const told: number[] = [];
  const listen = async (): Promise<void> => {
    await clock.sleep(5);
    await channel.silence();
    told.push(clock.monotonic() - start);
  };
  await clock.run(() => Promise.all([channel.silence(), channel.send(), listen(), listen()]));
  expect(told).toEqual([100, 100]);
});

it("is cut by an abort: every station gets the reason, and no timer and no listener remain", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const channel = new Channel(clock, medium, stop.signal);
  const sent = channel.send();
  await clock.step(5);
  const waits = [sent, channel.silence()];
  stop.abort("cut");
  waits.push(channel.send(), channel.silence());
  for (const wait of waits) await expect(wait).rejects.toBe("cut");
  expect(clock.waiters()).toBe(0);
  expect(abortListeners(stop.signal)).toBe(0);
});
