import {
  DecorrelatedJitterBackoff,
  type DecorrelatedJitterBackoffOptions,
} from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { draws } from "../draws.ts";
import { firstDelays } from "../first-delays.ts";

interface Case {
  readonly options: DecorrelatedJitterBackoffOptions;
  readonly delays: readonly number[];
}

it.each(
  Object.entries<Case>({
    "draws up to three times the previous delay": {
      options: { duration: 100, random: () => 0.5 },
      delays: [200, 350, 575, 912.5],
    },
    "can be shorter than the previous delay": {
      options: { duration: 100, random: draws(0.75, 0, 0.75) },
      delays: [250, 100, 250],
    },
    "draws from a custom range": {
      options: { duration: 100, factor: 2, random: () => 0.5 },
      delays: [150, 200, 250],
    },
    "is constant at a factor of 1": {
      options: { duration: 100, factor: 1, random: () => 0.5 },
      delays: [100, 100],
    },
    "is the cap if the minimum delay is longer": {
      options: { duration: 100, cap: 30, random: draws(0, 0.9) },
      delays: [30, 30, 30, 30],
    },
    "treats undefined as the default": {
      options: { duration: 0, factor: undefined, cap: undefined, random: undefined },
      delays: [0, 0],
    },
  }),
)("%s", (_, { options, delays }) => {
  expect(firstDelays(delays.length, new DecorrelatedJitterBackoff(options))).toEqual(delays);
});
