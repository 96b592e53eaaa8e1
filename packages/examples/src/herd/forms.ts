import { Backoff, type BackoffStrategy, type Random } from "@holdfast/wait";
import { DecorrelatedJitterBackoff, SymmetricJitterBackoff } from "@holdfast/wait/strategies";

/** A way to add chance to the delays of many clients. */
export interface Form {
  /** For names of files. */
  readonly name: string;
  readonly title: string;
  /** The range of a delay; b is the doubling base. */
  readonly range: string;
  readonly backoff: (random: Random) => BackoffStrategy;
}

/** The same growth for all, so that the form is the only difference. */
export const growth = { duration: 100, factor: 2, cap: 10_000 };

/** From no chance at all to nothing but chance. */
export const forms: readonly Form[] = [
  {
    name: "none",
    title: "no jitter",
    range: "of b",
    backoff: () => new Backoff(growth),
  },
  {
    name: "proportional-10",
    title: "proportional, 10 %",
    range: "from b to 1.1 b",
    backoff: (random) => new Backoff({ ...growth, jitter: 0.1, random }),
  },
  {
    name: "proportional-50",
    title: "proportional, 50 %",
    range: "from b to 1.5 b",
    backoff: (random) => new Backoff({ ...growth, jitter: 0.5, random }),
  },
  {
    name: "symmetric",
    title: "symmetric, ± 20 %",
    range: "from 0.8 b to 1.2 b",
    backoff: (random) => new SymmetricJitterBackoff({ ...growth, jitter: 0.2, random }),
  },
  {
    name: "equal",
    title: "equal",
    range: "from b/2 to b",
    backoff: (random) => new Backoff({ ...growth, jitter: "equal", random }),
  },
  {
    name: "decorrelated",
    title: "decorrelated",
    range: "from 100 ms to 3 times the last one",
    backoff: (random) => new DecorrelatedJitterBackoff({ ...growth, factor: 3, random }),
  },
  {
    name: "full",
    title: "full",
    range: "from 0 to b",
    backoff: (random) => new Backoff({ ...growth, jitter: "full", random }),
  },
];
