import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { pictures } from "../../src/ethernet/pictures.ts";

const PATIENCE = 60_000;

it(
  "the picture equals the drawing of the simulation",
  async () => {
    for (const [name, svg] of await pictures(1)) {
      const drawn = readFileSync(new URL(`../../../../docs/img/${name}`, import.meta.url), "utf8");
      expect(drawn === svg, `to draw ${name} anew: npm run docs`).toBe(true);
    }
  },
  PATIENCE,
);
