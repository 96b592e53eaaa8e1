import type { MetricSink } from "@holdfast/kit";

/** A candidate for leadership, such as a `LeaderElector`. */
export interface Candidate {
  /** Whether it leads now. */
  readonly isLeader: boolean;
}

/** Leadership of all candidates. */
export class LeadershipGauge {
  readonly #candidates = new Map<string, Candidate>();

  constructor(sink: MetricSink) {
    sink.gauge({
      labelNames: ["name"],
      name: "leader_election_master_status",
      help: "Whether this process leads: 1 for the leader, 0 for a candidate. The label name is that of the lease; group by it",
      read: () =>
        [...this.#candidates].map(([name, { isLeader }]) => [{ name }, isLeader ? 1 : 0] as const),
    });
  }

  watch(name: string, candidate: Candidate): void {
    this.#candidates.set(name, candidate);
  }
}
