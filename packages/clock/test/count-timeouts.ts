/** The number of timers that keep the process alive. */
export function countTimeouts(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}
