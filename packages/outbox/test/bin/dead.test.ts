import { describe, expect, it } from "vitest";
import { CommandWorld, message } from "./fake-io.ts";

const many = (count: number) => Array.from({ length: count }, (_, i) => message(i + 1));
const idOf = (n: number) => String(message(n).id);

describe("dead list", () => {
  it("prints dead letters in columns, without characters that a terminal acts on", async () => {
    const world = new CommandWorld();
    await world.die(
      [message(1), message(2, { topic: "a\u202e.b", key: "\u001b[2J" })],
      `HTTP 500\n\u009b31m ${"x".repeat(100)}`,
    );
    const { code, stdout, stderr } = await world.run(["dead", "list"]);
    expect([code, stderr]).toEqual([0, ""]);
    const error = `HTTP 500\\n\\u{9b}31m ${"x".repeat(86)}…`;
    expect(stdout.split("\n")).toEqual([
      "ID                                    DIED                  TOPIC        KEY        ATTEMPTS  ERROR",
      `${idOf(1)}  1970-01-01T07:00:00Z  orders       order/1    1/25      ${error}`,
      `${idOf(2)}  1970-01-01T07:00:00Z  a\\u{202e}.b  \\u{1b}[2J  1/25      ${error}`,
      "",
    ]);
  });

  it("prints JSON with the payload as it is stored, in one line without control characters", async () => {
    const world = new CommandWorld();
    await world.die([message(1, { payload: { price: 12.5, text: "\u009b31m\u2028" } })]);
    const { stdout } = await world.run(["dead", "list", "--json"]);
    expect(stdout).toMatch(/^[ -~]*\n$/);
    expect(stdout).toMatch(/"payload":\{"price":12.5,"text":"\\u009b31m\\u2028"\}\}\n$/);
    expect(JSON.parse(stdout)).toMatchObject({
      id: idOf(1),
      topic: "orders",
      lastError: "HTTP 500",
    });
  });

  it("tells that there are more than it prints, or none", async () => {
    const world = new CommandWorld();
    expect(await world.run(["dead", "list"])).toEqual({
      code: 0,
      stdout: "",
      stderr: "no dead letters\n",
    });
    await world.die([...many(101), message(102, { topic: "other" })]);
    const all = await world.run(["dead", "list"]);
    expect(all.stdout.split("\n").length).toBe(102);
    expect(all.stderr).toBe("the first 100; there are more, see --limit\n");
    const every = await world.run(["dead", "list", "--limit", "102"]);
    expect([every.stdout.split("\n").length, every.stderr]).toEqual([104, ""]);
    const { stdout } = await world.run(["dead", "list", "--topic", "other", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ id: idOf(102) });
  });
});

describe("dead show", () => {
  it("prints one, and cuts a long payload with a note", async () => {
    const world = new CommandWorld();
    const payload = "x".repeat(5_000);
    await world.die([message(1, { headers: { trace: "t" }, payload })]);
    const { stdout } = await world.run(["dead", "show", idOf(1).toUpperCase()]);
    expect(stdout.split("\n")).toEqual([
      `id              ${idOf(1)}`,
      "topic           orders",
      "key             order/1",
      "saved           1970-01-01T07:00:00Z",
      "died            1970-01-01T07:00:00Z",
      "attempts        1 of 25",
      "expired claims  0",
      'headers         {"trace":"t"}',
      "error           HTTP 500",
      `payload         "${"x".repeat(3_999)}… (5002 characters; --json prints all)`,
      "",
    ]);
    const json = await world.run(["dead", "show", idOf(1), "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ payload });
  });

  it("finds a dead letter whose row is not a valid message", async () => {
    const world = new CommandWorld();
    await world.die(many(150));
    const store = Object.assign(world.store, { find: async () => undefined });
    const connect = async () => world.connection({ store });
    const { code, stdout } = await world.run(["dead", "show", idOf(150)], { connect });
    expect([code, stdout.split("\n")[0]]).toEqual([0, `id              ${idOf(150)}`]);
  });

  it("shows as much of such a row as can be read", async () => {
    const world = new CommandWorld();
    await world.die(many(1));
    const deadLetters = world.store.deadLetters.bind(world.store);
    const broken = { payload: undefined, createdAt: Number.NaN, lastError: undefined };
    const store = Object.assign(world.store, {
      find: async () => undefined,
      deadLetters: async (page: Parameters<typeof deadLetters>[0]) =>
        (await deadLetters(page)).map((letter) => ({ ...letter, ...broken })),
    });
    const connect = async () => world.connection({ store });
    const { stdout } = await world.run(["dead", "show", idOf(1)], { connect });
    expect(stdout).toMatch(/^saved {11}unknown$/m);
    expect(stdout).toMatch(/^error {11}none\npayload {9}not JSON\n$/m);
    const json = await world.run(["dead", "show", idOf(1), "--json"], { connect });
    expect(JSON.parse(json.stdout)).toMatchObject({ id: idOf(1), createdAt: null, payload: null });
  });

  it("ends with 1 for a message that is no dead letter", async () => {
    const world = new CommandWorld();
    await world.store.transaction((tx) => world.store.save(tx, message(1), 0));
    const stderr = `${idOf(1)} is pending, not a dead letter\n`;
    expect(await world.run(["dead", "show", idOf(1)])).toEqual({ code: 1, stdout: "", stderr });
    const none = `${idOf(2)} is no message, not a dead letter\n`;
    expect((await world.run(["dead", "show", idOf(2)])).stderr).toBe(none);
  });
});

describe("dead replay", () => {
  /** A world that records the portions, in which each replayed message dies again at once. */
  async function deadAgain(count: number) {
    const world = new CommandWorld();
    await world.die([...many(count), message(count + 1, { topic: "other" })]);
    const portions: number[] = [];
    const { replay } = world.store;
    world.store.replay = async (selection, now) => {
      portions.push(await replay.call(world.store, selection, now));
      if (portions.length > 20) throw new Error("replayed for ever");
      await world.clock.step(1);
      await world.die([]);
      const at = world.clock.now();
      const { claims } = await world.store.claim({
        relay: "r",
        now: at,
        until: at + 1,
        limit: 1_000,
      });
      const failure = { now: at, error: "again", dueAt: undefined };
      await world.store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
      return portions.at(-1) ?? 0;
    };
    return { world, portions };
  }

  it("replays in portions, and none that has died again meanwhile", async () => {
    const { world, portions } = await deadAgain(250);
    expect(await world.run(["dead", "replay", "--all"])).toEqual({
      code: 0,
      stdout: "replayed 251\n",
      stderr: "",
    });
    expect(portions).toEqual([100, 100, 51]);
  });

  it.each<[string, number[]]>([
    ["--topic orders --portion 8", [8, 2]],
    ["--all --limit 5 --portion 2", [2, 2, 1]],
    ["--all --portion 11", [11]],
    ["--topic none", []],
  ])("replays a selection: %s", async (line, want) => {
    const { world, portions } = await deadAgain(10);
    const args = ["dead", "replay", ...line.split(" "), "--json"];
    const { stdout } = await world.run(args);
    expect(portions).toEqual(want);
    expect(JSON.parse(stdout)).toEqual({ replayed: want.reduce((sum, each) => sum + each, 0) });
  });

  it("replays what is named, once, and ends with 1 if some are no dead letters", async () => {
    const world = new CommandWorld();
    await world.die(many(3));
    let notified = 0;
    world.store.notify = async () => void notified++;
    const all = await world.run(["dead", "replay", idOf(1), idOf(1).toUpperCase()]);
    expect(all).toEqual({ code: 0, stdout: "replayed 1\n", stderr: "" });
    const some = await world.run(["dead", "replay", idOf(1), idOf(2)]);
    const stderr = "1 of the 2 are no dead letters\n";
    expect(some).toEqual({ code: 1, stdout: "replayed 1\n", stderr });
    expect(await world.store.backlog()).toEqual({ pending: 2, retrying: 0, dead: 1 });
    expect(notified).toBe(2);
  });

  it("succeeds if no relay can be notified", async () => {
    const world = new CommandWorld();
    await world.die(many(1));
    world.store.notify = () => Promise.reject(new Error("read-only"));
    expect((await world.run(["dead", "replay", "--all"])).code).toBe(0);
  });
});

describe("dead discard", () => {
  it.each<[string, string]>([
    ["--all", "all dead letters"],
    ["--all --limit 2", "the first 2 dead letters"],
    ["--topic orders", "all dead letters of the topic orders"],
    [idOf(1), "1 dead letters"],
  ])("asks before it removes %s, and removes nothing without a yes", async (line, what) => {
    const world = new CommandWorld();
    await world.die(many(3));
    const asked: string[] = [];
    const confirm = async (question: string) => {
      asked.push(question);
      return false;
    };
    const run = await world.run(["dead", "discard", ...line.split(" ")], { confirm });
    expect(run).toEqual({ code: 1, stdout: "", stderr: "nothing was discarded\n" });
    expect([asked, (await world.store.backlog()).dead]).toEqual([[`Remove ${what} for good?`], 3]);
  });

  it.each<[string, number]>([
    ["--all", 3],
    ["--all --limit 2", 2],
    ["--all --yes --portion 2", 3],
    ["--topic orders --yes", 3],
    ["--topic other --yes", 0],
    [`${idOf(1)} --yes`, 1],
  ])("removes after a yes: %s", async (line, count) => {
    const world = new CommandWorld();
    await world.die(many(3));
    const args = ["dead", "discard", ...line.split(" ")];
    const confirm = line.includes("--yes") ? undefined : async () => true;
    const run = await world.run(args, { confirm });
    expect(run).toEqual({ code: 0, stdout: `discarded ${count}\n`, stderr: "" });
    expect((await world.store.backlog()).dead).toBe(3 - count);
  });

  it("prints how many it has removed as JSON", async () => {
    const world = new CommandWorld();
    await world.die(many(3));
    const run = await world.run(["dead", "discard", "--all", "--yes", "--json"]);
    expect(run).toEqual({ code: 0, stdout: '{"discarded":3}\n', stderr: "" });
  });
});
