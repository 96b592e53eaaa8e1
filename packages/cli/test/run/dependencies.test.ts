import { describe, expect, it } from "vitest";
import { FakeSupervisor } from "./fake-supervisor.ts";

const slow = () => ({ afterTerm: 100 });

describe("a stop of all processes", () => {
  const CHAIN = `
processes:
  db: { command: slow }
  api: { command: slow, dependsOn: { db: started } }
  web: { command: slow, dependsOn: { api: started, db: started } }
  other: { command: slow }
`;

  it("stops each when those that depend on it have ended", async () => {
    const fake = new FakeSupervisor({ slow });
    fake.apply(CHAIN);
    await fake.clock.step(1_000);
    const ended = fake.shutdown("test");
    await fake.clock.step(1_000);
    await ended;
    expect(fake.timeline().filter(([at]) => at >= 1_000)).toEqual([
      [1_000, "web terminating (shutdown)"],
      [1_000, "other terminating (shutdown)"],
      [1_100, "web stopped: SIGTERM"],
      [1_100, "api terminating (shutdown)"],
      [1_100, "other stopped: SIGTERM"],
      [1_200, "api stopped: SIGTERM"],
      [1_200, "db terminating (shutdown)"],
      [1_300, "db stopped: SIGTERM"],
    ]);
  });

  it("does not wait for dependents that do not run", async () => {
    const fake = new FakeSupervisor({ slow, end: () => ({ runs: 10 }) });
    fake.apply(`
processes:
  db: { command: slow }
  done: { command: end, restart: Never, dependsOn: { db: started } }
  crasher: { command: end, dependsOn: { db: started } }
  waiter: { command: slow, dependsOn: { done: completed } }
`);
    await fake.clock.step(100);
    const ended = fake.shutdown("test");
    await fake.clock.step(100);
    await ended;
    expect(fake.timeline().filter(([at]) => at >= 100)).toEqual([
      [100, "waiter stopped"],
      [100, "crasher stopped"],
      [100, "db terminating (shutdown)"],
      [200, "db stopped: SIGTERM"],
    ]);
  });

  it("goes on after a dependent that had to be killed", async () => {
    const fake = new FakeSupervisor({
      slow,
      deaf: () => ({ afterTerm: Number.POSITIVE_INFINITY }),
    });
    fake.apply(`
processes:
  db: { command: slow }
  web: { command: deaf, grace: 2s, dependsOn: { db: started } }
`);
    await fake.clock.step(0);
    const ended = fake.shutdown("test");
    await fake.clock.step(2_100);
    await ended;
    expect(fake.timeline().slice(2)).toEqual([
      [0, "web terminating (shutdown)"],
      [2_000, "web killing"],
      [2_000, "web stopped: SIGKILL"],
      [2_000, "db terminating (shutdown)"],
      [2_100, "db stopped: SIGTERM"],
    ]);
  });

  it("ends although an edit has turned a dependency round", async () => {
    const fake = new FakeSupervisor({ slow, deaf: () => ({ afterTerm: 5_000 }) });
    fake.apply(
      "processes: { a: { command: deaf, dependsOn: { b: started } }, b: { command: slow } }",
    );
    await fake.clock.step(10);
    fake.apply(
      "processes: { a: { command: deaf, args: [x] }, b: { command: slow, dependsOn: { a: started } } }",
    );
    await fake.clock.step(10);
    const ended = fake.shutdown("test");
    await fake.clock.step(10_000);
    await ended;
    expect(fake.table.alive()).toEqual([]);
  });
});

describe("a restart of a dependency", () => {
  const yaml = (restart: boolean): string => `
processes:
  db: { command: db, backoff: { duration: 1s } }
  web: { command: slow, dependsOn: { db: { condition: started, restart: ${restart} } } }
  page: { command: slow, dependsOn: { web: { condition: started, restart: true } } }
`;

  it("restarts those that ask for it, and those that depend on them in turn, when it has started", async () => {
    const fake = new FakeSupervisor({ slow, db: (life) => (life === 1 ? { runs: 500 } : {}) });
    fake.apply(yaml(true));
    await fake.clock.step(3_000);
    expect(fake.timeline().filter(([at]) => at >= 500)).toEqual([
      [500, "db restarts: code 1"],
      [500, "web terminating (dependency)"],
      [500, "db waits 1000"],
      [500, "page terminating (dependency)"],
      [600, "web stopped: SIGTERM"],
      [600, "web pending: db is not started yet"],
      [600, "page stopped: SIGTERM"],
      [600, "page pending: web is not started yet"],
      [1_500, "db started"],
      [1_500, "web may start"],
      [1_500, "web started"],
      [1_500, "page may start"],
      [1_500, "page started"],
    ]);
  });

  it("leaves those alone that do not ask for it", async () => {
    const fake = new FakeSupervisor({ slow, db: (life) => (life === 1 ? { runs: 500 } : {}) });
    fake.apply(yaml(false));
    await fake.clock.step(3_000);
    expect(fake.timeline().filter(([at]) => at >= 500)).toEqual([
      [500, "db restarts: code 1"],
      [500, "db waits 1000"],
      [1_500, "db started"],
    ]);
  });

  it.each([
    ["a request", (fake: FakeSupervisor) => void fake.supervisor.restart("db"), true],
    [
      "an edit of its program",
      (fake: FakeSupervisor) => fake.apply(yaml(true).replace("command: db", "command: slow")),
      true,
    ],
    [
      "an edit of its limits",
      (fake: FakeSupervisor) => fake.apply(yaml(true).replace("1s", "2s")),
      false,
    ],
  ])("is a restart after %s", async (_, change, isRestarted) => {
    const fake = new FakeSupervisor({ slow, db: () => ({ afterTerm: 50 }) });
    fake.apply(yaml(true));
    await fake.clock.step(100);
    change(fake);
    await fake.clock.step(1_000);
    const started = fake.timeline().filter(([at, what]) => at >= 100 && what === "web started");
    expect(started).toHaveLength(isRestarted ? 1 : 0);
    expect(fake.phases()).toEqual({ db: "Running", web: "Running", page: "Running" });
  });

  it("restarts no dependent that has completed, and none during the stop of all", async () => {
    const fake = new FakeSupervisor({
      slow,
      db: () => ({ afterTerm: 50 }),
      end: () => ({ runs: 10, exit: { kind: "code", code: 0 } }),
    });
    fake.apply(`
processes:
  db: { command: db }
  job: { command: end, restart: Never, dependsOn: { db: { condition: started, restart: true } } }
`);
    await fake.clock.step(100);
    fake.supervisor.restart("db");
    await fake.clock.step(1_000);
    expect(fake.phases()).toEqual({ db: "Running", job: "Completed" });
    const ended = fake.shutdown("test");
    await fake.clock.step(1_000);
    await ended;
    expect(fake.table.launches.map(({ name }) => name)).toEqual(["db", "job", "db"]);
  });
});

describe("a start of a part", () => {
  const yaml = `
processes:
  db: { command: x }
  api: { command: x, dependsOn: { db: started } }
  web: { command: x, dependsOn: { api: started } }
  other: { command: x }
`;

  it.each([
    [["api"], ["db", "api"]],
    [
      ["db", "other"],
      ["db", "other"],
    ],
    [["web"], ["db", "api", "web"]],
    [[], ["db", "api", "web", "other"]],
  ])("starts %j with those that they depend on: %j", async (names, expected) => {
    const fake = new FakeSupervisor({ x: () => ({}) }, { names });
    fake.apply(yaml);
    await fake.clock.step(10);
    expect(fake.table.launches.map(({ name }) => name)).toEqual(expected);
  });

  it("follows edits of it", async () => {
    const fake = new FakeSupervisor({ x: () => ({}) }, { names: ["api"] });
    fake.apply(yaml);
    await fake.clock.step(10);
    fake.apply(yaml.replace("db: started", "other: started"));
    await fake.clock.step(10);
    expect(fake.phases()).toEqual({ api: "Running", other: "Running" });
    fake.apply("processes: { other: { command: x } }");
    await fake.clock.step(10);
    expect(fake.table.names()).toEqual([]);
  });
});
