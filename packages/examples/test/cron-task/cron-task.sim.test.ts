import { expect, inject, test } from "vitest";
import { endJobs, inWorld, MINUTE } from "./cron-world.ts";

/** How many days take place before and after the stop. */
const [before, after] = inject("isThorough") ? [3, 4] : [1, 1];

test("days of every quarter of an hour, and what a stop of three hours has missed", () =>
  inWorld(async (world) => {
    await world.create({ schedule: "*/15 * * * *" });
    const begin = before * 24 * 60;
    const [end, last] = [begin + 180, begin + after * 24 * 60];
    const seen = new Set<string>();
    for (let minute = 0; minute < last; minute += 15) {
      if (minute === begin) await world.stop();
      if (minute === end) world.start();
      await world.clock.sleep(15 * MINUTE);
      await endJobs(world.api.client, world.clock);
      for (const job of await world.jobs()) seen.add(job);
    }
    const times: string[] = [];
    for (let minute = 15; minute <= last; minute += 15) {
      const time = new Date(Date.UTC(2026, 0, 1) + minute * MINUTE).toISOString();
      // It stood still from 00:00:30 to 03:00:30. It then starts the Job of 03:00.
      const isMissed = minute > begin && minute < end;
      if (!isMissed) times.push(`${time.slice(5, 16).replace("T", " ")} Complete`);
    }
    expect([...seen].sort()).toEqual(times);
    expect(await world.jobs()).toEqual(times.slice(-3));
  }));

test("a week at 03:00 every day, also on the day when no operator runs at 03:00", () =>
  inWorld(async (world) => {
    const hour = 60 * MINUTE;
    await world.create({ schedule: "0 3 * * *", successfulJobsHistoryLimit: 10 });
    await world.clock.sleep(3 * 24 * hour + 2 * hour);
    await world.stop();
    await world.clock.sleep(2 * hour);
    expect(await world.jobs()).toHaveLength(3);
    world.start();
    await world.clock.sleep(MINUTE);
    expect((await world.jobs()).at(-1)).toBe("01-04 03:00");
    await world.clock.sleep(3 * 24 * hour);
    const days = ["01", "02", "03", "04", "05", "06", "07"];
    expect(await world.jobs()).toEqual(days.map((day) => `01-${day} 03:00`));
  }));
