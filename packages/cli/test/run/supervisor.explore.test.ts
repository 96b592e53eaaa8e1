import type { Clock } from "@holdfast/clock";
import { mapSource, resync } from "@holdfast/controller";
import { explore } from "@holdfast/explore";
import { expect, inject, test } from "vitest";
import { Supervisor } from "../../src/run/core/supervisor.ts";
import { parseManifest } from "../../src/run/manifest/parse-manifest.ts";
import { FakeProcessTable } from "./fake-process-table.ts";

// Two faults at a time, up to 1,000 worlds in `npm run sim`.
const isThorough: boolean = inject("isThorough");
const pairs = isThorough ? 1_000 : 20;

const READINESS = "readiness: { http: auto, path: /, period: 5s }";
const WEB = `web: { command: web, ${READINESS} }`;
const LATE = `late: { command: web, args: [late], ${READINESS} }`;
const FLAKY = "flaky: { command: flaky }";

/** The machine, and the file with the manifest. */
class Machine {
  readonly table: FakeProcessTable;
  /** The processes that ran when a supervisor was asked to stop, which ends them. */
  running: readonly string[] = [];
  #manifest = "";
  #edits = 0;

  constructor(clock: Clock) {
    const crashes = (life: number) => (life < 3 ? { runs: 1_000 } : {});
    this.table = new FakeProcessTable(clock, { flaky: crashes });
    this.edit(WEB, FLAKY);
  }

  edit(...processes: readonly string[]): void {
    const lines = processes.map((line) => `  ${line}`);
    this.#manifest = ["grace: 3s", "processes:", ...lines].join("\n");
    this.#edits++;
  }

  get manifest(): string {
    return this.#manifest;
  }

  get edits(): number {
    return this.#edits;
  }
}

test.each([inject("simSeed")])("ends with the processes of the manifest, seed %i", async (seed) => {
  const { worlds, planned } = await explore({
    seed,
    pairs,
    quiet: 60_000,
    longestTimer: 0,
    world: ({ clock }) => new Machine(clock),
    async run({ world, link, clock, random, signal, crashed }) {
      const { table } = world;
      crashed.addEventListener("abort", () => table.killAll()); // as the roster of the next leader
      const probe = link(async () => true, "probe");
      signal.addEventListener("abort", () => {
        world.running = table.names();
      });
      const machine = {
        clock,
        random,
        table,
        probe: () => async () => void (await probe()),
        isTaken: async () => false,
        isSilent: async () => false,
        freePort: link(async () => 4_000, "freePort"),
      };
      const looks = resync({ list: () => ["test.yaml"], interval: 1_000 });
      const manifests = mapSource(looks, (file) => [parseManifest(world.manifest, file)]);
      const options = { file: "test.yaml", manifests, machine, report: () => {} };
      await new Supervisor(options).run(signal);
    },
    async scenario({ world, clock }) {
      await clock.sleep(8_000);
      world.edit(WEB, LATE);
      await clock.sleep(8_000);
      world.edit(LATE);
      await clock.sleep(8_000);
      world.edit(WEB, LATE, FLAKY);
    },
    stateOf: ({ running }) => running,
    revisionOf: ({ edits }) => edits, // the processes of a supervisor end with it
  });
  expect(worlds).toBe(planned + pairs);
  expect(planned).toBeGreaterThan(20);
});
