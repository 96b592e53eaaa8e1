import { FakeClock } from "@holdfast/clock/testing";
import { BinaryExponentialBackoff } from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { Channel } from "../../src/ethernet/channel.ts";
import { station } from "../../src/ethernet/station.ts";
import { Tally } from "../../src/ethernet/tally.ts";

const medium = { frame: 100, slot: 1, propagation: 0.5 };
/** Draws the longest delay each time. */
const random = (): number => 1 - 2 ** -32;

/** Delays after collisions 1 to 15 if each is as long as can be, in slots. */
const LONGEST = [1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023, 1_023, 1_023, 1_023, 1_023, 1_023];

it("gives a frame up after 16 attempts, counts it, and continues with a new one", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const { signal } = stop;
  const channel = new Channel(clock, medium, signal);
  const tally = new Tally();
  const backoff = new BinaryExponentialBackoff({ slotTime: medium.slot, random });
  const attempts: number[] = [];
  const start = clock.monotonic();
  const send = channel.send.bind(channel);
  // Somebody else starts in the same instant, each time.
  channel.send = () => {
    attempts.push(clock.monotonic() - start);
    void send().catch(() => {});
    return send();
  };

  const running = station(1, { clock, channel, backoff, tally, signal });
  const collision = medium.slot;
  const delays = LONGEST.map((slots) => slots * medium.slot);
  const sixteenth = delays.reduce((at, delay) => at + collision + delay, 0);
  await clock.step(sixteenth + collision - 0.001);
  expect([attempts.length, attempts.at(-1), tally.dropped]).toEqual([16, sixteenth, 0]);

  await clock.step(0.001);
  expect(tally).toMatchObject({ offered: 2, delivered: 0, dropped: 1, collisions: 16 });
  expect(attempts.slice(16)).toEqual([sixteenth + collision]);

  const [first = 0] = delays;
  await clock.step(collision + first);
  expect(attempts.slice(17)).toEqual([sixteenth + 2 * collision + first]);

  stop.abort("enough");
  await running;
  expect(clock.waiters()).toBe(0);
});

it("ends with an unknown error", async () => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const channel = new Channel(clock, medium, signal);
  const bug = new Error("bug");
  channel.send = () => Promise.reject(bug);
  const backoff = new BinaryExponentialBackoff({ slotTime: medium.slot });
  const network = { clock, channel, backoff, tally: new Tally(), signal };
  await expect(station(1, network)).rejects.toBe(bug);
});
