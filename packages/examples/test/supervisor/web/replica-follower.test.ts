import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../../test/abort-listeners.ts";
import { ReplicaFollower } from "../../../src/supervisor/web/replica-follower.ts";
import type { ProcessSnapshot, Snapshot } from "../../../src/supervisor/web/snapshot.ts";
import { ScriptedStatus } from "./scripted-status.ts";
import { ScriptedStreams } from "./scripted-streams.ts";

function processNamed(name: string, pid: number | undefined, restarts = 0): ProcessSnapshot {
  return {
    name,
    phase: pid === undefined ? "CrashLoopBackOff" : "Running",
    ready: undefined,
    pid,
    restarts,
    lastExit: undefined,
    nextStart: undefined,
    waits: [],
    cap: 1_000,
  };
}

const line = (at: number, text: string) => ({ at, name: undefined, text });

function world({ refuses = [] as readonly string[] } = {}) {
  const clock = new FakeClock({ now: 0 });
  const own = new ScriptedStatus(clock, {
    file: "replicas",
    processes: [processNamed("r1", 11), processNamed("r2", 12)],
  });
  const streams = new ScriptedStreams(clock);
  const at = (name: string) => streams.at(`http://${name}/events`);
  for (const name of refuses) at(name).accepts = false;
  const urls = new Map([
    ["r1", "http://r1/"],
    ["r2", "http://r2/"],
  ]);
  const follower = new ReplicaFollower({ clock, own, urls, open: streams.open });
  const stop = new AbortController();
  const running = follower.run(stop.signal);
  let changes = 0;
  follower.onChange(() => changes++);

  const says = (identity: string, change: Partial<Snapshot> = {}) => {
    const status = new ScriptedStatus(clock, { identity, file: "demo.yaml", ...change });
    at(identity).show(status.snapshot());
  };
  const leads = (identity: string, token: number, change: Partial<Snapshot> = {}) =>
    says(identity, { leader: { identity, token, since: 0 }, ...change });
  const roles = () => follower.snapshot().replicas.map(({ role }) => role);
  return { clock, own, at, follower, stop, running, says, leads, roles, changes: () => changes };
}

describe("a follower of replicas", () => {
  it("shows the work of the leader, and the states of all replicas", async () => {
    const { clock, follower, says, leads } = world();
    await clock.step(0);
    says("r1", { leader: { identity: "r2", token: 7, since: 0 } });
    const processes = [processNamed("web", 21, 3)];
    leads("r2", 7, { processes, queue: { size: 1, delayed: 2, inFlight: 3 } });
    await clock.step(5);
    expect(follower.snapshot()).toEqual({
      at: 5,
      identity: "supervisor",
      file: "demo.yaml",
      leader: { identity: "r2", token: 7, since: 0 },
      replicas: [
        { identity: "r1", role: "standby", pid: 11, restarts: 0 },
        { identity: "r2", role: "leader", pid: 12, restarts: 0 },
      ],
      processes: JSON.parse(JSON.stringify(processes)),
      queue: { size: 1, delayed: 2, inFlight: 3 },
      log: [],
    });
  });

  it("shows a change of leader, and the time without one", async () => {
    const { clock, at, own, follower, says, leads, roles, changes } = world();
    await clock.step(0);
    leads("r1", 1, { processes: [processNamed("web", 21)] });
    says("r2");
    await clock.step(0);
    expect(roles()).toEqual(["leader", "standby"]);

    const before = changes();
    at("r1").accepts = false;
    at("r1").end(new Error("reset"));
    own.show({ processes: [processNamed("r1", undefined), processNamed("r2", 12)] });
    await clock.step(0);
    expect(changes()).toBe(before + 2);
    expect(roles()).toEqual(["down", "standby"]);
    expect(follower.snapshot()).toMatchObject({ leader: undefined, processes: [] });

    leads("r2", 2, { processes: [processNamed("web", 22)] });
    at("r1").accepts = true;
    own.show({ processes: [processNamed("r1", 13, 1), processNamed("r2", 12)] });
    await clock.step(2_500);
    says("r1");
    await clock.step(0);
    expect(follower.snapshot()).toMatchObject({
      leader: { identity: "r2", token: 2 },
      replicas: [
        { identity: "r1", role: "standby", pid: 13, restarts: 1 },
        { identity: "r2", role: "leader", pid: 12 },
      ],
      processes: [{ name: "web", pid: 22 }],
    });
  });

  it("shows the later of two replicas that claim to lead", async () => {
    const { clock, leads, roles } = world();
    await clock.step(0);
    leads("r1", 9);
    leads("r2", 10);
    await clock.step(0);
    expect(roles()).toEqual(["standby", "leader"]);
    leads("r1", 11);
    await clock.step(0);
    expect(roles()).toEqual(["leader", "standby"]);
  });

  it("treats a replica as stuck after 3 s of silence, and reconnects", async () => {
    const { clock, at, leads, roles } = world();
    await clock.step(0);
    leads("r1", 1);
    for (let second = 0; second < 5; second++) {
      leads("r1", 1);
      await clock.step(1_000);
    }
    expect(roles()).toEqual(["leader", "down"]);
    await clock.step(1_999);
    expect(roles()).toEqual(["leader", "down"]);
    await clock.step(1);
    expect(roles()).toEqual(["down", "down"]);
    expect(at("r1")).toMatchObject({ attempts: [0, 7_000], isOpen: true });
  });

  it("reconnects to a replica that refuses, after delays that grow to 2 s", async () => {
    const { clock, at } = world({ refuses: ["r1"] });
    await clock.step(12_000);
    const { attempts } = at("r1");
    const planned = [200, 400, 800, 1_600, 2_000, 2_000, 2_000];
    for (const [index, delay] of planned.entries()) {
      const gap = (attempts[index + 1] ?? Number.NaN) - (attempts[index] ?? Number.NaN);
      expect(gap).toBeGreaterThanOrEqual(delay);
      expect(gap).toBeLessThanOrEqual(1.1 * delay);
    }
  });

  it("keeps the log lines of an exited replica, each once, in order", async () => {
    const { clock, at, own, follower, says } = world();
    own.show({ log: [line(2, "r1 was killed")] });
    await clock.step(0);
    says("r1", { log: [line(1, "a"), line(3, "c")] });
    await clock.step(0);
    at("r1").end();
    await clock.step(250);
    says("r1", { log: [line(3, "c"), line(4, "d")] });
    await clock.step(0);
    const texts = follower.snapshot().log.map(({ text }) => text);
    expect(texts).toEqual(["a", "r1 was killed", "c", "d"]);
  });

  it("keeps the latest 50 lines", async () => {
    const { clock, follower, says } = world();
    await clock.step(0);
    says("r1", { log: Array.from({ length: 60 }, (_, n) => line(n, `${n}`)) });
    await clock.step(0);
    const texts = follower.snapshot().log.map(({ text }) => text);
    expect(texts).toHaveLength(50);
    expect([texts[0], texts[49]]).toEqual(["10", "59"]);
  });

  it.each(["connected", "refused"])("stops at once, %s, and leaves nothing", async (state) => {
    const { clock, at, own, stop, running, says } = world({ refuses: ["r2"] });
    await clock.step(state === "connected" ? 0 : 10_000);
    says("r1");
    await clock.step(50);
    stop.abort();
    await running;
    expect(at("r1").isOpen).toBe(false);
    expect(clock.waiters()).toBe(0);
    expect(own.listeners).toBe(0);
    expect(abortListeners(stop.signal)).toBe(0);
  });
});
