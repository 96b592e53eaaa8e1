import { explore } from "@holdfast/explore";
import { expect, inject, test, vi } from "vitest";
import { mirror } from "../../src/getting-started/mirror.ts";

// Three seeds, and up to 1,000 worlds of two faults at a time, in `npm run sim`.
const isThorough: boolean = inject("isThorough");
const pairs = isThorough ? 1_000 : 20;

test.each([inject("simSeed")])(
  "ends with the same files after every fault, seed %i",
  async (seed) => {
    vi.stubGlobal("fetch", async (url: string) => new Response(`page at ${url}`));
    const names = ["a.html", "b.html"];
    const pages = new Map(names.map((name) => [name, `https://example.org/${name}`]));
    const { worlds, planned } = await explore({
      seed,
      world: () => new Map<string, string>(),
      async run({ world, link, clock, random, signal }) {
        const files = {
          read: async (name: string) => world.get(name),
          write: async (name: string, text: string) => void world.set(name, text),
        };
        await mirror(pages, link(files, "files"), { clock, random }).run(signal);
      },
      scenario: async () => {},
      stateOf: (stored) => new Map([...stored].toSorted()),
      pairs,
    });
    expect(worlds).toBe(planned + pairs);
  },
);
