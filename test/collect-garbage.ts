import { Session } from "node:inspector/promises";

/** Runs the garbage collector, after the objects that one turn keeps alive are free. */
export async function collectGarbage(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}

/** The bytes of the heap that are in use, without garbage. */
export async function heapUsed(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().heapUsed;
}
