/** The state of one invariant. */
export interface Invariant {
  readonly name: string;
  readonly state: "holds" | "broken" | "unchecked";
  /** Number of checks with their unit. */
  readonly checks: string;
  /** First violation. */
  readonly problem: string | undefined;
}

class Entry {
  readonly name: string;
  readonly unit: string;
  checks = 0;
  violations = 0;
  problem: string | undefined;

  constructor(name: string, unit: string) {
    this.name = name;
    this.unit = unit;
  }

  get invariant(): Invariant {
    const { name, unit, checks, violations, problem } = this;
    const state = violations > 0 ? "broken" : checks > 0 ? "holds" : "unchecked";
    return { name, state, checks: `${checks.toLocaleString("en")} ${unit}`, problem };
  }
}

const INVARIANTS = {
  overlap: ["no two writes of a record overlap", "writes"],
  quota: ["requests stay within the quota", "requests"],
  fencing: ["no write of a former leader is accepted", "refused"],
  finalizer: ["no finalizer is removed before its remote record", "deletions"],
  records: ["after quiet: records = provider", "checks"],
  caches: ["after quiet: caches = server", "checks"],
  statuses: ["after quiet: every status is observed", "checks"],
  stop: ["every child stops within 25 s", "stops"],
} as const;

export type InvariantName = keyof typeof INVARIANTS;

/** The eight invariants of a run and the counts of their checks. */
export class Invariants {
  readonly #entries: Readonly<Record<InvariantName, Entry>>;

  constructor() {
    const entries = Object.entries(INVARIANTS).map(([key, [name, unit]]) => [
      key,
      new Entry(name, unit),
    ]);
    this.#entries = Object.fromEntries(entries) as Record<InvariantName, Entry>;
  }

  get list(): readonly Invariant[] {
    return Object.values(this.#entries).map((entry) => entry.invariant);
  }

  get areKept(): boolean {
    return this.list.every(({ state }) => state !== "broken");
  }

  /** Counts one check. Pass undefined as `problem` if the invariant held. */
  check(name: InvariantName, problem: string | undefined): void {
    const entry = this.#entries[name];
    entry.checks += 1;
    if (problem === undefined) return;
    entry.violations += 1;
    entry.problem ??= problem;
  }

  /** Sets the counts of an invariant from a running total. */
  count(name: InvariantName, checks: number, violations: number, problem: string): void {
    const entry = this.#entries[name];
    entry.checks = checks;
    entry.violations = violations;
    if (violations > 0) entry.problem ??= problem;
  }
}
