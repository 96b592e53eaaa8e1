import type { StatusSource } from "../../web/status-source.ts";
import type { Baseline } from "../harness/baseline/baseline.ts";
import type { Faults } from "../harness/faults.ts";
import type { Harness } from "../harness/harness.ts";
import type { Replica } from "../harness/replica/replica.ts";
import { QUOTA } from "../provider/quota.ts";
import type { BaselineSnapshot, ProviderSnapshot, ReplicaSnapshot, Snapshot } from "./snapshot.ts";

/** The state of a run for its page. */
export class Board implements StatusSource<Snapshot> {
  readonly #harness: Harness;
  readonly #faults: Faults;
  readonly #baseline: Baseline;

  constructor(harness: Harness, faults: Faults, baseline: Baseline) {
    this.#harness = harness;
    this.#faults = faults;
    this.#baseline = baseline;
  }

  snapshot(): Snapshot {
    const { api, clock, replicas, truth, drift, population, invariants, log } = this.#harness;
    const report = replicas.leader?.report;
    return {
      at: clock.now(),
      api: api.name,
      kubectl: api.kubectl,
      canStopApi: api.control !== undefined,
      records: truth.size,
      lease: truth.lease,
      replicas: replicas.all.map(replicaOf),
      queue: report?.queue ?? { size: 0, delayed: 0 },
      inFlight: report?.inFlight ?? [],
      failing: report?.failing ?? [],
      provider: this.#provider(),
      drift: { now: drift.now, history: drift.history, longest: drift.longest },
      totals: {
        faults: this.#faults.count,
        edits: population.edits,
        ...this.#harness.reconciles,
        handOvers: this.#harness.handOvers,
      },
      invariants: invariants.list,
      baseline: baselineOf(this.#baseline),
      log: log.entries,
    };
  }

  onChange(listener: () => void): Disposable {
    return this.#harness.onChange(listener);
  }

  #provider(): ProviderSnapshot {
    const { records, faults, quota, refused } = this.#harness.provider;
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
    state: token !== undefined ? "leader" : isUp ? "standby" : "starting",
    token,
    heap,
  };
}

function baselineOf({ death, drift, report, provider }: Baseline): BaselineSnapshot {
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
