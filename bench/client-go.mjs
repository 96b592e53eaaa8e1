// client-go's work queue on this machine, from the program that is built of go/main.go.
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { createInterface } from "node:readline/promises";

const PROGRAM = "HOLDFAST_BENCH_GO";

/** Why client-go cannot run; undefined if it can. */
export function whyNoClientGo() {
  const program = process.env[PROGRAM];
  if (program === undefined) return `build bench/go and set ${PROGRAM}=FILE`;
  try {
    accessSync(program, constants.X_OK);
    return undefined;
  } catch {
    return `${PROGRAM}=${program} cannot be run: build bench/go`;
  }
}

/** A contender: samples of one process, which gets one core, as its garbage collector wants no second. */
export function clientGo(kase, keys) {
  return (size) => {
    const env = { ...process.env, GOMAXPROCS: "1" };
    const child = spawn(process.env[PROGRAM], { env, stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return async () => {
      child.stdin.write(`${kase} ${size} ${keys}\n`);
      const { done, value } = await lines.next();
      if (done) throw new Error(`${PROGRAM} ended without a figure`);
      return JSON.parse(value);
    };
  };
}
