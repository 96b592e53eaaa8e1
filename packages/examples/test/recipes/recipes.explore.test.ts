import { EventEmitter } from "node:events";
import type nodeFs from "node:fs";
import { dirname } from "node:path";
import { MemoryLock } from "@holdfast/controller";
import { explore } from "@holdfast/explore";
import { expect, inject, test } from "vitest";
import { leaderCron } from "../../src/recipes/leader-cron.ts";
import { mirrorDirectory } from "../../src/recipes/mirror-directory.ts";

// Three seeds, and up to 1,000 worlds of two faults at a time, in `npm run sim`.
const isThorough: boolean = inject("isThorough");
const pairs = isThorough ? 1_000 : 20;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Files in memory, by path. */
class Disk {
  readonly files = new Map<string, string>();
  readonly #watchers = new Set<EventEmitter>();

  write(name: string, text: string): void {
    this.files.set(`/source/${name}`, text);
    for (const watcher of this.#watchers) watcher.emit("change", "change", name);
  }

  watch(_path: string, _options: object, listener: (event: string, file: string) => void) {
    const watcher = Object.assign(new EventEmitter(), {
      close: () => this.#watchers.delete(watcher),
    });
    this.#watchers.add(watcher);
    return watcher.on("change", listener);
  }

  readonly promises = {
    mkdir: async () => undefined,
    readdir: async (directory: string) =>
      [...this.files.keys()]
        .filter((path) => path.startsWith(`${directory}/`))
        .map((path) => path.slice(directory.length + 1)),
    readFile: async (path: string) => {
      const text = this.files.get(path);
      if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: "ENOENT" });
      return Buffer.from(text);
    },
    rm: async (path: string) => {
      if (!this.files.delete(path)) throw Object.assign(new Error(path), { code: "ENOENT" });
    },
    writeFile: async (path: string, content: Buffer) => {
      expect(dirname(path)).toBe("/target");
      this.files.set(path, content.toString());
    },
  };
}

test.each([inject("simSeed")])(
  "mirrorDirectory ends with equal directories, seed %i",
  async (seed) => {
    const { worlds, planned } = await explore({
      seed,
      pairs,
      world: () => new Disk(),
      async run({ world, link, clock, random, signal }) {
        const { mkdir } = world.promises; // its failure at the start ends the recipe, as it should
        const fs = {
          promises: { ...link(world.promises, "fs"), mkdir },
          watch: world.watch.bind(world),
        } as unknown as typeof nodeFs;
        const options = { signal, clock, random, log: () => {}, fs };
        await mirrorDirectory("/source", "/target", options);
      },
      async scenario({ world, clock }) {
        world.write("a", "1");
        world.write("b", "1");
        await clock.sleep(10 * SECOND);
        world.write("a", "2");
        await clock.sleep(10 * SECOND);
        world.files.delete("/source/b");
      },
      stateOf: ({ files }) => new Map([...files].toSorted()),
    });
    expect(worlds).toBe(planned + pairs);
  },
);

/** Waits of an elector: its lease, and the retry after it. */
const TAKEOVER = 20 * SECOND;

class Office {
  readonly lock = new MemoryLock();
  readonly runs: number[] = [];
}

test.each([inject("simSeed")])("leaderCron leaves no interval out, seed %i", async (seed) => {
  const { worlds, planned } = await explore({
    seed,
    pairs,
    replicas: 2,
    quiet: 5 * MINUTE,
    world: () => new Office(),
    async run({ world, link, clock, random, signal, replica }) {
      const work = link(async () => {
        if (world.runs.length < 8) world.runs.push(clock.monotonic());
      }, "job");
      const identity = `replica-${replica}`;
      const options = { lock: world.lock, identity, interval: MINUTE, signal, clock, random };
      await leaderCron(() => work(), { ...options, log: () => {} });
    },
    scenario: ({ clock }) => clock.sleep(5 * MINUTE),
    stateOf: ({ runs }) => runs,
    expect(runs) {
      const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(2 * (MINUTE + TAKEOVER));
    },
  });
  expect(worlds).toBe(planned + pairs);
});
