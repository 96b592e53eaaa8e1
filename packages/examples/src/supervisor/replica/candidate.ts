import { join } from "node:path";
import { LeaderElector, silentLogger } from "@holdfast/controller";
import { FileLock } from "@holdfast/controller/file-lock";
import { formatDuration } from "../../terminal/duration.ts";
import type { Program } from "../program.ts";
import { FencedTable } from "./fenced-table.ts";
import type { Role } from "./role.ts";
import { Roster } from "./roster.ts";

/** One of several supervisors: it works while it leads. */
export function candidate(directory: string, program: Program): Role {
  const { options, manifest, clock, table, board, metrics } = program;
  const { identity, lease, grace = manifest.grace } = options;
  const roster = new Roster(join(directory, "processes"));
  const reportProblem = (_details: object, message: string): void =>
    program.tell({ type: "failed", message });
  const elector: LeaderElector = new LeaderElector({
    lock: new FileLock(join(directory, "lease")),
    identity,
    clock,
    leaseDuration: lease,
    renewDeadline: (lease * 2) / 3,
    retryPeriod: lease / 6,
    // Lines on the console would break the live table.
    logger: { ...silentLogger, warn: reportProblem, error: reportProblem },
    onNewLeader: (leader) => {
      if (leader !== identity) program.tell({ type: "following", leader });
    },
    lead: async (leadership) => {
      const { token, signal } = leadership;
      program.tell({ type: "leading", identity, token });
      await roster.endOrphans({ clock, grace, before: token, signal });
      const isLeader = (): boolean => elector.isLeader;
      const fenced = new FencedTable(table, { roster, token, isLeader });
      await program.supervise(signal, { table: fenced, leadership });
      board.follow(undefined);
    },
  });
  metrics.leadership("supervisor", elector);
  const problem = (): string | undefined => {
    const { overdue } = elector.status();
    return overdue > 0
      ? `still working ${formatDuration(overdue)} after the lease was lost`
      : undefined;
  };
  return {
    status: board,
    alive: [board.alive, { name: "lease", problem }],
    run: (signal) => elector.run(signal),
  };
}
