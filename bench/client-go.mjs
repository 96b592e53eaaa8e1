// The rivals on client-go, if they are built, and its work queue as a contender.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline/promises";
import { built, clientGoPrograms } from "../services/apiserver/build.mjs";

const QUEUE = "HOLDFAST_BENCH_QUEUE";

/** @returns where contenders find the programs, and their versions */
export async function openClientGo() {
  if (!built().clientGo)
    throw new Error('it is not built: build it once with "npm run apiserver -- --client-go"');
  const { informer, operator, queue, version } = await clientGoPrograms();
  return {
    env: {
      HOLDFAST_BENCH_INFORMER: informer,
      HOLDFAST_BENCH_OPERATOR: operator,
      [QUEUE]: queue,
    },
    facts: `client-go: ${version}`,
    async [Symbol.asyncDispose]() {},
  };
}

/** A contender: samples of one process, which gets one core, as its garbage collector wants no second. */
export function clientGo(kase, keys) {
  return (size) => {
    const env = { ...process.env, GOMAXPROCS: "1" };
    const child = spawn(process.env[QUEUE], { env, stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return async () => {
      child.stdin.write(`${kase} ${size} ${keys}\n`);
      const { done, value } = await lines.next();
      if (done) throw new Error("the work queue of client-go ended without a figure");
      return JSON.parse(value);
    };
  };
}
