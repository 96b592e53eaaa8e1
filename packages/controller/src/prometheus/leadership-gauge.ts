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
      help: "Whether this process leads: 1 for the leader, 0 for a candidate. The label name is that of the lease; group by it",
      collect() {
        for (const [name, { isLeader }] of candidates) this.set({ name }, isLeader ? 1 : 0);
      },
    });
  }

  watch(name: string, candidate: Candidate): void {
    this.#candidates.set(name, candidate);
  }
}
