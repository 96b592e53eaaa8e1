import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Manifest, ProcessSpec } from "../manifest/manifest.ts";
import type { Program } from "../program.ts";

const MAIN = fileURLToPath(new URL("../main.js", import.meta.url));
/** How much longer than its processes a replica may take to end, in milliseconds. */
const TIME_LIMIT = 5_000;

/** Replicas as a manifest: to the supervisor of supervisors they are processes like any other. */
export function replicaManifest(
  directory: string,
  ports: ReadonlyMap<string, number>,
  { options, manifest, logs }: Program,
): Manifest {
  const { file, lease, grace = manifest.grace } = options;
  const processLogs = join(logs.directory, "processes");
  const replicas = [...ports].map(([name, port]): [string, ProcessSpec] => {
    const place = ["--lock", directory, "--identity", name, "--port", `${port}`];
    const times = ["--forever", "--lease", `${lease}ms`];
    if (options.grace !== undefined) times.push("--grace", `${grace}ms`);
    const args = [MAIN, "--file", file, "--logs", processLogs, ...place, ...times];
    const spec: ProcessSpec = {
      name,
      command: process.execPath,
      args,
      env: {},
      cwd: process.cwd(),
      restart: "Always",
      // A leader that was killed comes back when another one leads: it could take its old lease.
      backoff: { duration: 2 * lease, factor: 2, jitter: 0, cap: 4 * lease, resetAfter: 8 * lease },
      readiness: { port, path: "/healthz", period: 500, timeout: 1_000, failures: 3 },
    };
    return [name, spec];
  });
  return { grace: grace + TIME_LIMIT, processes: new Map(replicas) };
}
