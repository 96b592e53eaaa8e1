import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { Server } from "../../src/herd/server.ts";

it("is down for the outage, then serves as many calls as it has workers, and refuses others at once", async () => {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const reports: string[] = [];
  const server = new Server({
    clock,
    outage: 1_000,
    workers: 2,
    service: 100,
    report: (outcome) => reports.push(outcome),
  });
  const answers: [number, number, string][] = [];
  const callAt = async (instant: number): Promise<void> => {
    await clock.sleep(instant);
    const outcome = await server.call();
    answers.push([instant, clock.monotonic() - start, outcome]);
  };
  await clock.run(() => Promise.all([0, 999, 1_000, 1_000, 1_000, 1_099, 1_101].map(callAt)));
  expect(answers).toEqual([
    [0, 0, "down"],
    [999, 999, "down"],
    [1_000, 1_000, "refused"],
    [1_099, 1_099, "refused"],
    [1_000, 1_100, "accepted"],
    [1_000, 1_100, "accepted"],
    [1_101, 1_201, "accepted"],
  ]);
  expect(reports.join(" ")).toBe("down down accepted accepted refused refused accepted");
});
