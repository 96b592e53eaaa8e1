import { readFileSync } from "node:fs";
import os from "node:os";

export function machine() {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model ?? "unknown",
    cores: cpus.length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    platform: `${os.platform()} ${os.release()} ${os.arch()}`,
    node: process.version,
    v8: process.versions.v8,
  };
}

export const load = () => os.loadavg()[0];

/** The installed versions of everything that is compared. */
export function versions() {
  const manifest = new URL("package.json", import.meta.url);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(manifest, "utf8"));
  const names = Object.keys({ ...dependencies, ...devDependencies })
    .filter((name) => !name.startsWith("@types/"))
    .sort();
  return Object.fromEntries(
    names.map((name) => {
      const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
      return [name, JSON.parse(readFileSync(file, "utf8")).version];
    }),
  );
}

/** Milliseconds in a tick of the CPU times of `/proc`. */
const TICK = 10;

/** Milliseconds of CPU time of the API server. NaN where there is no `/proc`. */
export function cpuOfServer() {
  try {
    const stat = readFileSync(`/proc/${process.env.API_PID}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK;
  } catch {
    return Number.NaN;
  }
}

/** Resident bytes of the API server. NaN where there is no `/proc`. */
export function memoryOfServer() {
  try {
    const status = readFileSync(`/proc/${process.env.API_PID}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
  } catch {
    return Number.NaN;
  }
}
