/** What `work` costs this process, in microseconds. */
export function cpuTime(work: (n: number) => void, n: number): number {
  const start = process.cpuUsage();
  work(n);
  const { user, system } = process.cpuUsage(start);
  return user + system;
}
