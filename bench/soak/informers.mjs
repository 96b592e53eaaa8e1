// Very many informers in one process, each of a namespace. An object changes again once its informer has seen the last change.
import { builtIn } from "@holdfast/kubernetes";
import { withTimeout } from "@holdfast/wait";
import { asked, insist, PATIENCE, startApi } from "./api.mjs";
import { observe, Program, pause, Slowest } from "./program.mjs";

const ConfigMap = builtIn("v1", "ConfigMap");
/** Objects of an informer; changes at a time, and the rest after each, in milliseconds. */
const [EACH, LANES, REST] = [5, 10, 150];

export async function informers({ minutes, objects: count, signal, keep }) {
  const { client, env, faults } = await startApi(signal, keep);
  const ref = (i, k = 0) => ({ namespace: `soak-${i}`, name: `object-${k}` });
  await inLanes(32, async (lane) => {
    for (let i = lane; i < count; i += 32)
      for (let k = 0; k < EACH; k++)
        await client.create(ConfigMap, { metadata: ref(i, k), data: { number: "0" } });
  });
  /** The last change of each informer, and who waits for it. */
  const last = new Array(count).fill(0);
  const waiting = new Map();
  const program = new Program(
    "informers-process.mjs",
    { ...env, COUNT: `${count}` },
    ({ informer, number }) => number === last[informer] && waiting.get(informer)?.(),
  );
  keep(program);
  await program.ask("ready");
  const over = new AbortController();
  const until = AbortSignal.any([over.signal, signal]);
  const slowest = new Slowest();
  const problems = [];
  let [made, seen] = [0, 0];
  const changing = inLanes(LANES, async (lane) => {
    for (let i = lane; await pause(REST, until); i = (i + LANES) % count) {
      const number = ++made;
      last[i] = number;
      const sight = new Promise((resolve) => waiting.set(i, resolve));
      try {
        await insist(() => client.patch(ConfigMap, ref(i), { data: { number: `${number}` } }));
        const began = performance.now();
        await withTimeout(() => sight, PATIENCE);
        slowest.add(began);
        seen++;
      } catch (error) {
        problems.push(`change ${number}, of informer ${i}: ${error}`);
      }
    }
  });
  const observed = await observe({
    ...{ program, minutes, signal },
    more: () => slowest.take(),
    // Two restarts are a part of the warm-up: memory that only the first ones take stays with the process.
    timeline: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9].map((share) => {
      const name = share === 0.7 ? "compact, SIGTERM" : "SIGKILL";
      return [share, name, faults[name]];
    }),
  });
  over.abort();
  await changing;
  for (const [i, number] of (await program.ask("numbers")).entries())
    if (number !== last[i]) problems.push(`informer ${i} has ${number} instead of ${last[i]}`);
  const end = await program.ask("tell");
  const [{ cpu, minute }] = observed.samples;
  return {
    ...observed,
    title: `${count.toLocaleString("en-US")} informers in one process`,
    panels: [
      { "open connections": ({ connections }) => connections },
      { "slowest change, from its write to its reconcile, s": ({ slowest }) => slowest },
    ],
    figures: {
      changes: `${made}, of which ${seen} were seen`,
      asked: asked(end),
      "connections at the end": end.connections,
      "CPU, % of a core": ((end.cpu - cpu) / 0.6 / (observed.minutes - minute)).toFixed(1),
    },
    problems,
  };
}

const inLanes = async (lanes, work) =>
  await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
