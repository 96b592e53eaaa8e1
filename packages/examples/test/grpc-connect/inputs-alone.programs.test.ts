import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { FakeClock } from "@holdfast/clock/testing";
import { afterEach, expect, it, vi } from "vitest";
import { run } from "../../src/grpc-connect/run.ts";
import { refuseMachine } from "../refuse-machine.ts";

afterEach(() => vi.restoreAllMocks());

it("is a function of its clock and its seed, beside a peer with real sockets", async () => {
  const clock = new FakeClock();
  const stdout = new PassThrough();
  const printed = text(stdout);
  const asked = refuseMachine();
  const options = { initial: 20, hold: 50, minConnectTimeout: 300, seed: 1 };
  let code: number | undefined;
  const running = run(options, { clock, stdout }).then((result) => {
    code = result;
  });
  while (code === undefined) {
    await Promise.race([setTimeout(1), running]); // the peer's turn
    await clock.step(1);
  }
  stdout.end();
  expect(await printed).toMatch(/No attempt started too early\.\n$/);
  expect(code).toBe(0);
  expect(clock.waiters()).toBe(0);
  expect(asked).toEqual([]);
});
