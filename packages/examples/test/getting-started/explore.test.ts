import { explore } from "@holdfast/controller/testing";
import { expect, test, vi } from "vitest";
import { mirror } from "../../src/getting-started/mirror.ts";

test("ends with the same files after every fault", async () => {
  vi.stubGlobal("fetch", async (url: string) => new Response(`page at ${url}`));
  const names = ["a.html", "b.html"];
  const pages = new Map(names.map((name) => [name, `https://example.org/${name}`]));
  const { worlds, planned } = await explore({
    world: () => new Map<string, string>(),
    async run({ world, link, clock, signal }) {
      const files = {
        read: async (name: string) => world.get(name),
        write: async (name: string, text: string) => void world.set(name, text),
      };
      await mirror(pages, link(files, "files"), clock).run(signal);
    },
    scenario: async () => {},
    stateOf: (stored) => new Map([...stored].toSorted()),
    pairs: 20,
  });
  expect(worlds).toBe(planned + 20);
});
