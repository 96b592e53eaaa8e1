import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Whether {@link socketsTo} can count on this machine. */
export const canCountSockets: boolean = process.platform === "linux";

/**
 * TCP connections of this process to a port of 127.0.0.1, as the kernel counts them: also those that Node keeps
 * without holding the process open. Linux only.
 */
export function socketsTo(port: number): number {
  const open = new Set(readdirSync("/proc/self/fd").map(inodeOf));
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const connections = readFileSync("/proc/self/net/tcp", "utf8").split("\n").slice(1);
  return connections.filter((line) => {
    const [, , remote, , , , , , , inode] = line.trim().split(/\s+/);
    return remote === address && open.has(inode);
  }).length;
}

function inodeOf(descriptor: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[1];
  } catch {
    return undefined; // closed meanwhile
  }
}
