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
  const names = Array.from({ length: count }, (_, index) => `replica-${index + 1}`);
  const ports = new Map(
    await Promise.all(names.map(async (name) => [name, await freePort()] as const)),
  );
  const urls = new Map([...ports].map(([name, port]) => [name, `http://127.0.0.1:${port}/`]));
  const follower = new ReplicaFollower({ clock, own: board, urls });

  const work = async (directory: string, signal: AbortSignal): Promise<void> => {
    const manifest = replicaManifest(directory, ports, program);
    const manifests = fromCallback<ReadManifest>("replicas", (enqueue) =>
      enqueue({ ok: true, manifest }),
    );
    const over = new AbortController();
    const following = follower.run(over.signal);
    await program.supervise(signal, { manifests });
    const roster = new Roster(join(directory, "processes"));
    await roster.endOrphans({ clock, grace: 0, before: Number.POSITIVE_INFINITY });
    over.abort();
    await following;
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    if (options.lock !== undefined) return await work(options.lock, signal);
    const directory = mkdtempSync(join(tmpdir(), "holdfast-lock-"));
    try {
      await work(directory, signal);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  };
  return { status: follower, alive: [board.alive], run };
}
