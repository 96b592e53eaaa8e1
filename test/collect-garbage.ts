import { Session } from "node:inspector/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

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

/** The bytes of the heap that are in use after collections of young objects alone. */
function heapWithoutYoungGarbage(): number {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: { type: "minor" }) => void;
  for (let i = 0; i < 3; i++) gc({ type: "minor" }); // an object is old after the second
  return process.memoryUsage().heapUsed;
}

/** The bytes that a call leaves on the heap until a full collection. */
export async function youngGarbageKept(call: () => unknown): Promise<number> {
  const CALLS = 1_000;
  const repeat = async (): Promise<void> => {
    for (let i = 0; i < CALLS; i++) await call();
  };
  await repeat(); // what is compiled, and made once, is not a call's
  await collectGarbage();
  const before = heapWithoutYoungGarbage();
  await repeat();
  return (heapWithoutYoungGarbage() - before) / CALLS;
}
