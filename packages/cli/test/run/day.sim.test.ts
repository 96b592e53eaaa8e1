import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";
import type { SupervisorEvent } from "../../src/run/core/event.ts";
import type { Life } from "./fake-process-table.ts";
import { FakeSupervisor } from "./fake-supervisor.ts";

// What must hold, whatever happens:
// - no process has two instances at once (the fake process table throws)
// - every phase follows from the one before (the reducer throws)
// - no look at a process fails, but for a backoff
// - a wait is at least its plan, and a plan is from `duration` to `cap × (1 + jitter)`
// - after the shutdown nothing is alive and nothing waits
// How long the day takes is printed by `npm run sim`, not asserted: the machine may be busy.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const LONGEST_WAIT = 5 * MINUTE * 1.1;

const NAMES = ["api", "cache", "cron", "db", "mail", "web"];

/** Mostly minutes, sometimes nothing at all; some ignore SIGTERM, some cannot be started. */
function lifeOf(random: () => number): Life {
  const draw = random();
  if (draw < 0.05) return { unstartable: "not today" };
  const runs = draw < 0.3 ? 0 : random() ** 3 * 2 * HOUR;
  const afterTerm = random() < 0.2 ? Number.POSITIVE_INFINITY : random() * 5 * SECOND;
  return { runs, afterTerm, exit: { kind: "code", code: random() < 0.3 ? 0 : 1 } };
}

function manifestOf(random: () => number): string {
  const entries = NAMES.filter(() => random() < 0.9).map((name) => {
    const restart = ["Always", "Always", "Always", "OnFailure", "Never"][Math.floor(random() * 5)];
    const args = `[v${Math.floor(random() * 3)}]`;
    return `  ${name}: { command: any, args: ${args}, restart: ${restart}, readiness: { http: auto, period: 1m } }`;
  });
  const backoff = "backoff: { duration: 1s, factor: 2, cap: 5m, jitter: 0.1, resetAfter: 10m }";
  return ["grace: 3s", backoff, "processes:", "  always: { command: any }", ...entries].join("\n");
}

interface Pause {
  readonly planned: number;
  readonly measured: number;
}

/** Every wait that was not cut short, from the bare events. */
function pausesOf(events: readonly SupervisorEvent[]): Pause[] {
  const pauses: Pause[] = [];
  const open = new Map<string, { readonly planned: number; readonly since: number }>();
  for (const event of events) {
    if (!("name" in event)) continue;
    const wait = open.get(event.name);
    if (event.type !== "readiness") open.delete(event.name);
    if (event.type === "waiting") open.set(event.name, { planned: event.delay, since: event.at });
    else if (wait !== undefined && (event.type === "started" || event.type === "exited"))
      pauses.push({ planned: wait.planned, measured: event.at - wait.since });
  }
  return pauses;
}

it.each([inject("simSeed")])(
  "holds its invariants for a day of crashes, kills and edits (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    const probe = () => async () => {
      if (random() >= 0.95) throw new Error("HTTP 503");
    };
    const fake = new FakeSupervisor({ any: () => lifeOf(random) }, { probe, seed });
    const { clock, table } = fake;

    fake.apply(manifestOf(random));
    for (let hour = 0; hour < 24; hour++) {
      const part = random() * HOUR;
      await clock.step(part, { turns: 0 });
      table.kill(NAMES[Math.floor(random() * NAMES.length)] ?? "");
      if (random() < 0.5) fake.apply(manifestOf(random));
      await clock.step(HOUR - part, { turns: 0 });
    }
    await clock.run(() => fake.shutdown("end of the day"), { turns: 0 });

    expect(fake.failures()).toEqual([]);
    const pauses = pausesOf(fake.events);
    expect(pauses.length).toBeGreaterThan(200);
    for (const { planned, measured } of pauses) {
      expect(planned).toBeGreaterThanOrEqual(SECOND);
      expect(planned).toBeLessThanOrEqual(LONGEST_WAIT);
      expect(measured).toBeGreaterThanOrEqual(planned);
    }
    expect(table.alive()).toEqual([]);
    expect(clock.waiters()).toBe(0);
  },
);
