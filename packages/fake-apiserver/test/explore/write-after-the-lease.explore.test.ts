import { explore } from "@holdfast/fake-apiserver";
import { expect, test } from "vitest";
import { ann, Thing } from "./kit.ts";

/** A system outside of the cluster. It keeps the highest token, if its callers give theirs. */
class Registry {
  readonly names = new Map<string, string>();
  #highest = 0;

  read(key: string): string | undefined {
    return this.names.get(key);
  }

  write(key: string, name: string, token = 0): void {
    if (token < this.#highest) throw new Error(`token ${token} is older than ${this.#highest}`);
    this.#highest = token;
    this.names.set(key, name);
  }
}

/** The faults that this file is not about, and leaves out. */
const OTHERS = [
  ...["crash-before", "crash-before-down", "crash-after", "crash-after-down", "hand-over"],
  ...["response-lost", "server-error", "conflict", "too-many-requests", "call-failed"],
  ...["event-late", "events-lost", "scenario-first"],
];

/** Reads the registry, then writes to it. The lease may be lost between the two. */
function registering(gives: "a token" | "no token", replicas = 2) {
  return explore<Registry>({
    resources: [Thing],
    replicas,
    without: replicas > 1 ? OTHERS : [],
    quiet: 120_000,
    world: () => new Registry(),
    setup: ({ cluster, controller, link, world }) => {
      const things = cluster.watch(Thing);
      const registry = link(world, "registry");
      return ({ token }) => [
        controller({
          name: "things",
          sources: [things.source()],
          async reconcile({ key }) {
            const name = things.get(key)?.spec.name;
            if (name === undefined || (await registry.read(key)) === name) return;
            await registry.write(key, name, gives === "a token" ? token : undefined);
          },
        }),
      ];
    },
    async scenario({ client, clock }) {
      await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
      await clock.sleep(30_000);
      await client.patch(Thing, ann, { spec: { name: "Anna" } });
    },
    stateOf: ({ names }) => names,
  });
}

test("finds a write to the outside after the lease was lost", async () => {
  const problem = await registering("no token").then(String, ({ message }: Error) => message);
  expect(problem).toMatch(
    /^lease lost after step \d+, registry\.read\("default\/ann"\)\n {2}world.default\/ann: expected "Anna", got "Ann"\n/,
  );
  const lines = [
    ...[/replica 1 {2}leads, token \d+/, /> .*replica 1 {2}registry\.read/],
    ...[/replica 1 {2}stands still for 60 s/, /replica 2 {2}leads, token \d+/, /^ {5}…$/m],
    /replica 1 {2}registry\.write\("default\/ann", "Ann", undefined\)/,
  ];
  const places = lines.map((line) => problem.search(line));
  expect(places).toEqual([...places].filter((place) => place >= 0).sort((a, b) => a - b));
});

test("passes where the outside refuses an older token", async () => {
  const { faults } = await registering("a token");
  expect(faults["lost-lease"]).toBeGreaterThan(0);
});

test("has no lease to lose with one replica", async () => {
  const { faults } = await registering("no token", 1);
  expect(faults["lost-lease"]).toBeUndefined();
});
