import { Gauge, type Registry } from "prom-client";

/** A candidate for leadership, such as a `LeaderElector`. */
export interface Candidate {
  /** Whether it leads now. */
  readonly isLeader: boolean;
}

/** Leadership of all candidates in a registry. */
export class LeadershipGauge {
  readonly #candidates = new Map<string, Candidate>();

  constructor(register: Registry) {
    const candidates = this.#candidates;
    new Gauge({
      registers: [register],
      labelNames: ["name"],
      name: "leader_election_master_status",
      help: "1 if this process leads, 0 if it does not",
      collect() {
        for (const [name, { isLeader }] of candidates) this.set({ name }, isLeader ? 1 : 0);
      },
    });
  }

  watch(name: string, candidate: Candidate): void {
    this.#candidates.set(name, candidate);
  }
}
