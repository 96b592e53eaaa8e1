import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stopwatch } from "../measure.mjs";

const SERVER = fileURLToPath(new URL("kubernetes/server.mjs", import.meta.url));
const PODS = 1_000;

async function serve(pods, events) {
  const child = spawn(process.execPath, [SERVER, `${pods}`, `${events}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const [url] = await once(createInterface(child.stdout), "line");
  return url;
}

/** Runs the work of an operator, and resolves with its CPU time in nanoseconds. */
async function operate(url, isRecorded, work) {
  const { atUrl, builtIn, runOperator } = await import("@holdfast/kubernetes");
  const { silentLogger } = await import("@holdfast/controller");
  const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const Pod = builtIn("v1", "Pod");
  const stop = new AbortController();
  let spent;
  await runOperator(
    {
      ...{ name: "bench", transport: atUrl(url), leaderElection: false, health: false },
      ...(isRecorded && { recording: { directory } }),
      logger: silentLogger,
      setup: (context) => {
        const { prepare = () => {}, perform } = work(context, Pod, builtIn("v1", "Secret"));
        const run = async (signal) => {
          await prepare();
          const lap = stopwatch();
          await perform();
          if (isRecorded) await new Promise((resolve) => setTimeout(resolve, 1_100)); // the last flush counts
          spent = lap();
          stop.abort();
          await new Promise((resolve) => {
            if (signal.aborted) resolve();
            signal.addEventListener("abort", resolve);
          });
        };
        return () => [{ name: "bench", run }];
      },
    },
    stop.signal,
  );
  rmSync(directory, { recursive: true });
  return spent;
}

/** @param hasSecrets - whether the operator has read a thousand Secrets before, whose values the recording replaces */
const getting = (isRecorded, hasSecrets) => async (count) => {
  const url = await serve(1, 0);
  return async () => {
    const work = ({ client }, Pod, Secret) => ({
      prepare: async () => {
        if (hasSecrets) for await (const _ of client.list(Secret));
      },
      perform: async () => {
        for (let i = 0; i < count; i++) for await (const _ of client.list(Pod));
      },
    });
    return { "cpu µs/GET": (await operate(url, isRecorded, work)) / 1_000 / count };
  };
};

const following = (isRecorded) => async (count) => {
  const url = await serve(PODS, count);
  return async () => {
    const name = `web-${String((count - 1) % PODS).padStart(6, "0")}`;
    const key = `team-${((count - 1) % PODS) % 50}/${name}`;
    const wanted = `${PODS + count}`;
    const work = ({ cluster }, Pod) => {
      const pods = cluster.watch(Pod);
      const perform = async () => {
        while (pods.get(key)?.metadata.resourceVersion !== wanted)
          await new Promise((resolve) => setTimeout(resolve, 5));
      };
      return { perform };
    };
    return { "cpu µs/event": (await operate(url, isRecorded, work)) / 1_000 / count };
  };
};

const sides = (make) => ({ "not recorded": make(false), recorded: make(true) });

export const recording = {
  id: "p",
  title: "A recorded operator beside the same without a recording",
  cases: [
    {
      id: "get",
      title: "GETs of one Pod over HTTP, one after the other",
      sizes: [10_000],
      quickSizes: [200],
      samples: 3,
      milliseconds: 0,
      rounds: 3,
      unit: "GETs",
      contenders: { ...sides(getting), "recorded, 1,000 Secrets": getting(true, true) },
    },
    {
      id: "events",
      title: "changes of 1,000 Pods, 200 in a chunk, from bytes to the cache",
      sizes: [50_000],
      quickSizes: [2_000],
      samples: 1,
      milliseconds: 0,
      rounds: 3,
      unit: "events",
      contenders: sides(following),
    },
  ],
};
