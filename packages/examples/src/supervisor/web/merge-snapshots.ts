import type { LogEntry } from "../../web/log-entry.ts";
import type { ReplicaSnapshot, Snapshot } from "./snapshot.ts";

/** How many changes a page is told of. */
const LOG_LENGTH = 50;

/** The newest of some changes, each once, in the order of their instants. */
export function mergeLogs(...logs: readonly (readonly LogEntry[])[]): readonly LogEntry[] {
  const entries = new Map(logs.flat().map((entry) => [JSON.stringify(entry), entry]));
  return [...entries.values()].toSorted((a, b) => a.at - b.at).slice(-LOG_LENGTH);
}

/** The replica with the latest term. Earlier leaders may not have noticed their loss yet. */
function leading(replicas: ReadonlyMap<string, Snapshot>): Snapshot | undefined {
  const token = ({ identity, leader }: Snapshot): number =>
    leader?.identity === identity ? leader.token : Number.NEGATIVE_INFINITY;
  const [first] = [...replicas.values()].toSorted((a, b) => token(b) - token(a));
  return first !== undefined && token(first) > Number.NEGATIVE_INFINITY ? first : undefined;
}

/**
 * Snapshot of the parent of replicas: the work of the leader, and the roles of all replicas.
 *
 * @param own - the parent as a supervisor, whose processes are the replicas
 * @param replicas - snapshots of the connected replicas, by name
 */
export function mergeSnapshots(own: Snapshot, replicas: ReadonlyMap<string, Snapshot>): Snapshot {
  const leader = leading(replicas);
  const roleOf = (name: string): ReplicaSnapshot["role"] => {
    if (!replicas.has(name)) return "down";
    return name === leader?.identity ? "leader" : "standby";
  };
  const [any] = replicas.values();
  return {
    at: own.at,
    identity: own.identity,
    file: (leader ?? any ?? own).file,
    leader: leader?.leader,
    replicas: own.processes.map(({ name, pid, restarts }) => {
      return { identity: name, role: roleOf(name), pid, restarts };
    }),
    processes: leader?.processes ?? [],
    queue: leader?.queue ?? { size: 0, delayed: 0, inFlight: 0 },
    log: mergeLogs(own.log, ...[...replicas.values()].map(({ log }) => log)),
  };
}
