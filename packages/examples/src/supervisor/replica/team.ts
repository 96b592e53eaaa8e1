import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromCallback } from "@holdfast/controller";
import { freePort } from "../machine/free-port.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import type { Program } from "../program.ts";
import { ReplicaFollower } from "../web/replica-follower.ts";
import { replicaManifest } from "./replica-manifest.ts";
import type { Role } from "./role.ts";
import { Roster } from "./roster.ts";

/** The supervisor of several supervisors, of which one works. */
export async function team(count: number, program: Program): Promise<Role> {
  const { options, clock, board } = program;
  const directory = options.lock ?? mkdtempSync(join(tmpdir(), "holdfast-lock-"));
  const names = Array.from({ length: count }, (_, index) => `replica-${index + 1}`);
  const ports = new Map(
    await Promise.all(names.map(async (name) => [name, await freePort()] as const)),
  );
  const manifest = replicaManifest(directory, ports, program);
  const manifests = fromCallback<ReadManifest>("replicas", (enqueue) =>
    enqueue({ ok: true, manifest }),
  );
  const urls = new Map([...ports].map(([name, port]) => [name, `http://127.0.0.1:${port}/`]));
  const follower = new ReplicaFollower({ clock, own: board, urls });

  const run = async (signal: AbortSignal): Promise<void> => {
    const over = new AbortController();
    const following = follower.run(over.signal);
    await program.supervise(signal, { manifests });
    const roster = new Roster(join(directory, "processes"));
    await roster.endOrphans({ clock, grace: 0, before: Number.POSITIVE_INFINITY });
    if (options.lock === undefined) rmSync(directory, { recursive: true, force: true });
    over.abort();
    await following;
  };
  return { status: follower, alive: [board.alive], run };
}
