import { expect, it } from "vitest";
import { firstDelays } from "./first-delays.ts";
import { STRATEGIES } from "./strategies.ts";

/** Options can come from a class, or from a shared prototype. */
it.each(STRATEGIES)("$Strategy.name accepts inherited options", ({ Strategy, options }) => {
  const inherited = new Strategy(Object.create(options) as never);
  expect(firstDelays(6, inherited)).toEqual(firstDelays(6, new Strategy(options as never)));
});
