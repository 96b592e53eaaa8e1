import { expect, it } from "vitest";
import { createPalette } from "../../src/supervisor/view/palette.ts";
import { summaryLines } from "../../src/supervisor/view/summary.ts";
import type { Program } from "./fake-process-table.ts";
import { FakeSupervisor } from "./fake-supervisor.ts";

const programs: Readonly<Record<string, Program>> = {
  crash: () => ({ runs: 50, exit: { kind: "code", code: 3 } }),
  web: () => ({}),
};

const MANIFEST = `
backoff: { duration: 1s, cap: 2s, resetAfter: 10s }
processes:
  web: { command: web }
  crasher: { command: crash }
`;

async function summaryAfter(time: number, room: number): Promise<string[]> {
  const fake = new FakeSupervisor(programs);
  fake.apply(MANIFEST);
  await fake.clock.step(time);
  await fake.clock.run(() => fake.shutdown("test"));
  const palette = createPalette(false);
  return summaryLines(fake.statuses, { elapsed: time, left: 0, room, palette });
}

it("puts each planned delay beside the measured gap", async () => {
  expect(await summaryAfter(5_000, 100)).toEqual([
    "Summary after 5s",
    "planned delay of each restart, and the measured time from exit to next start",
    "",
    "PROCESS  ENDED AS  STARTS  LAST EXIT  RESTART    PLANNED   MEASURED  DIFFERENCE",
    "web      Stopped        1  SIGTERM          -          -          -           -",
    "crasher  Stopped        3  code 3           1  1000.0 ms  1000.0 ms     +0.0 ms",
    "                                            2  2000.0 ms  2000.0 ms     +0.0 ms",
    "                                            3  2000.0 ms  cut short           -",
    "",
    "No process is running.",
  ]);
});

it("keeps the newest ten waits and their numbers", async () => {
  const lines = await summaryAfter(60_000, 60);
  expect(lines.slice(3, 6)).toEqual([
    "PROCESS  ENDED AS  RESTART    PLANNED   MEASURED  DIFFERENCE",
    "web      Stopped         -          -          -           -",
    "crasher  Stopped        21  2000.0 ms  2000.0 ms     +0.0 ms",
  ]);
  expect(lines).toHaveLength(17);
});

it("reports a process that is still running", () => {
  const palette = createPalette(false);
  const lines = summaryLines(new Map(), { elapsed: 1, left: 2, room: 80, palette });
  expect(lines.at(-1)).toBe("2 processes are still running!");
});
