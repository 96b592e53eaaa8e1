import { liveBytes, stopwatch } from "../../measure.mjs";

/** A sample: each key fails once, waits, becomes due, is taken and forgotten. */
export async function keys(count) {
  const { ExponentialLimiter, WorkQueue } = await import("@holdfast/controller");
  const { FakeClock } = await import("@holdfast/clock/testing");
  const names = Array.from({ length: count }, (_, i) => `team-${i % 50}/web-${i}`);
  return () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const limiter = new ExponentialLimiter({ clock });
    const before = liveBytes();
    const lap = stopwatch();
    for (const name of names) queue.add(name, { after: limiter.when(name) });
    let spent = lap();
    const bytes = liveBytes() - before;
    lap();
    clock.stepSync(1_000_000);
    let done = 0;
    for (let work = queue.take(); work !== undefined; work = queue.take()) {
      limiter.forget(work.item);
      work.done();
      done++;
    }
    spent += lap();
    if (done !== count) throw new Error(`${done} of ${count} keys became due`);
    return { "ns/key": spent / count, "bytes/key": bytes / count };
  };
}
