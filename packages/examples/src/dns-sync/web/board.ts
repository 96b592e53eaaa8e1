import type { StatusSource } from "../../web/status-source.ts";
import { QUOTA } from "../provider/quota.ts";
import type { Faults } from "../stage/faults.ts";
import type { NaiveLane } from "../stage/naive/naive-lane.ts";
import type { Replica } from "../stage/replica/replica.ts";
import type { Stage } from "../stage/stage.ts";
import type { NaiveSnapshot, ProviderSnapshot, ReplicaSnapshot, Snapshot } from "./snapshot.ts";

/** The state of a run for its page. */
export class Board implements StatusSource<Snapshot> {
  readonly #stage: Stage;
  readonly #faults: Faults;
  readonly #naive: NaiveLane;

  constructor(stage: Stage, faults: Faults, naive: NaiveLane) {
    this.#stage = stage;
    this.#faults = faults;
    this.#naive = naive;
  }

  snapshot(): Snapshot {
    const { api, clock, crew, truth, drift, population, invariants, chronicle } = this.#stage;
    const report = crew.leader?.report;
    return {
      at: clock.now(),
      api: api.name,
      kubectl: api.kubectl,
      canStopApi: api.control !== undefined,
      records: truth.size,
      lease: truth.lease,
      replicas: crew.replicas.map(replicaOf),
      queue: report?.queue ?? { size: 0, delayed: 0 },
      inFlight: report?.inFlight ?? [],
      failing: report?.failing ?? [],
      provider: this.#provider(),
      drift: { now: drift.now, history: drift.history, longest: drift.longest },
      totals: {
        faults: this.#faults.count,
        edits: population.edits,
        ...this.#stage.reconciles,
        handOvers: this.#stage.handOvers,
      },
      invariants: invariants.list,
      naive: naiveOf(this.#naive),
      log: chronicle.entries,
    };
  }

  onChange(listener: () => void): Disposable {
    return this.#stage.onChange(listener);
  }

  #provider(): ProviderSnapshot {
    const { records, faults, quota, refused } = this.#stage.provider;
    const { rate } = QUOTA;
    return { records: records.size, faults: faults.now, used: quota.used, rate, refused };
  }
}

function replicaOf({ name, pid, state, report }: Replica): ReplicaSnapshot {
  const token = report?.token;
  const heap = report?.usage?.heap;
  if (state !== "running") return { name, pid, state, token, heap };
  const isUp = report?.hasSynced === true;
  return {
    name,
    pid,
    state: token !== undefined ? "leads" : isUp ? "standby" : "starting",
    token,
    heap,
  };
}

function naiveOf({ death, drift, report, provider }: NaiveLane): NaiveSnapshot {
  return {
    state: death === undefined ? "alive" : "dead",
    reason: death?.reason,
    after: death?.after,
    drift,
    overlaps: provider.audit.overlaps,
    events: report?.events ?? 0,
    errors: report?.errors ?? 0,
  };
}
