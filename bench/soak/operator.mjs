// An operator with very many objects, of which one changes each second, while its server is killed, stopped, compacted and away.
import { ensureCrd, fromCrd } from "@holdfast/kubernetes";
import { greetingCrd, NAMESPACE } from "../suites/kubernetes/greeting.mjs";
import { asked, eventually, insist, startApi } from "./api.mjs";
import { observe, Program, pause, Slowest } from "./program.mjs";

export const FINALIZER = "bench.example.org/soak";
const Greeting = fromCrd(greetingCrd);
/** The tens of changes that an object lives which is made meanwhile. */
const LIFE = 5;
const TEXT = "x".repeat(800);

/** An object of 1 kB, as the server stores it. */
const stored = (_, i) => ({
  apiVersion: "bench.example.org/v1",
  kind: "Greeting",
  metadata: {
    ...{ name: `greeting-${i}`, namespace: NAMESPACE, generation: 1 },
    uid: `00000000-0000-4000-8000-${`${i}`.padStart(12, "0")}`,
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: { name: `0 ${TEXT}` },
});

export async function operator({ minutes, objects, signal, keep }) {
  const { server, client, env, faults } = await startApi(signal, keep);
  await ensureCrd(client, greetingCrd);
  await server.seed("bench.example.org/greetings", Array.from({ length: objects }, stored));
  const program = new Program("operator-process.mjs", env);
  keep(program);
  const began = performance.now();
  while ((await program.ask("tell")).reconciles < objects && (await pause(10_000, signal)));
  const first = (performance.now() - began) / 1_000;
  console.log(`all objects were reconciled within ${first.toFixed(0)} s`);
  const over = new AbortController();
  const world = {
    client,
    objects,
    texts: new Map(),
    problems: [],
    slowest: new Slowest(),
    seen: 0,
  };
  const changing = change(world, AbortSignal.any([over.signal, signal]));
  const observed = await observe({
    ...{ program, minutes, signal },
    more: () => world.slowest.take(),
    timeline: [
      [0.3, "SIGKILL"],
      [0.4, "compact"],
      [0.5, "compact, SIGKILL"],
      [0.6, "SIGTERM"],
      [0.7, "60 s away"],
      [0.78, "defragment"],
      [0.86, "compact, SIGTERM"],
    ].map(([share, name]) => [share, name, faults[name]]),
  });
  over.abort();
  const made = await changing;
  await compare(world, program);
  const last = await program.ask("tell");
  return {
    ...observed,
    title: `An operator of ${objects.toLocaleString("en-US")} objects, one of which changes each second`,
    panels: [{ "slowest change, from its write to its status, s": ({ slowest }) => slowest }],
    figures: {
      "minutes of the run": observed.minutes.toFixed(1),
      "seconds before, of the first reconciles": first.toFixed(0),
      changes: `${made}, of which ${world.seen} were reconciled`,
      "slowest change, s": Math.max(...observed.samples.map(({ slowest }) => slowest)).toFixed(1),
      asked: asked(last),
      reconciles: `${last.reconciles} in ${last.terms} terms of the leader`,
      "CPU seconds": last.cpu.toFixed(0),
    },
    problems: world.problems,
  };
}

/** Makes a change a second, each of which the operator has to answer. @returns how many */
async function change(world, signal) {
  let made = 0;
  /** The last change of each name: the next one waits for it, as the server may be away for longer than an object lives. */
  const last = new Map();
  do {
    const next = nextOf(world, ++made);
    const { name, text } = next;
    world.texts.set(name, text);
    last.set(
      name,
      Promise.resolve(last.get(name)).then(() => changeOnce(world, next)),
    );
  } while (await pause(1_000, signal));
  await Promise.all(last.values());
  return made;
}

async function changeOnce(world, { name, text, write }) {
  const { client } = world;
  const ref = { namespace: NAMESPACE, name };
  try {
    await insist(() => write(ref));
    const began = performance.now();
    await eventually(async () => (await client.find(Greeting, ref))?.status?.text === text);
    world.slowest.add(began);
    world.seen++;
  } catch (error) {
    world.problems.push(`the change of ${name} to ${text}: ${error}`);
  }
}

/**
 * Most changes are of a text. Of ten, one makes an object, and one deletes an older one: then the text is undefined. A write may
 * be repeated: after a kill nobody knows whether it has arrived.
 */
function nextOf({ client, objects, texts }, i) {
  const text = `${i}`;
  const spec = { name: `${i} ${TEXT}` };
  const ten = Math.floor(i / 10);
  if (i % 10 === 8) {
    const create = async (ref) =>
      (await client.find(Greeting, ref)) ??
      (await client.create(Greeting, { metadata: { ...ref, finalizers: [FINALIZER] }, spec }));
    return { name: `new-${ten}`, text, write: create };
  }
  if (i % 10 === 9 && texts.has(`new-${ten - LIFE}`))
    return { name: `new-${ten - LIFE}`, write: (ref) => client.delete(Greeting, ref) };
  const name = `greeting-${(i * 7_919) % objects}`;
  return { name, text, write: (ref) => client.patch(Greeting, ref, { spec }) };
}

/** Adds what is lost to the problems: each object has the text of its last change, and the cache has what the server has. */
async function compare({ client, objects, texts, problems }, program) {
  const cached = new Map(await program.ask("texts"));
  const alive = [...texts].filter(([name, text]) => name.startsWith("new-") && text);
  let count = 0;
  for await (const { metadata, status } of client.list(Greeting)) {
    const { name } = metadata;
    const wanted = texts.has(name) ? texts.get(name) : "0";
    count++;
    if (status?.text !== wanted || cached.get(name) !== wanted)
      problems.push(`${name}: ${status?.text}, cached ${cached.get(name)}, instead of ${wanted}`);
  }
  if (count !== objects + alive.length || cached.size !== count)
    problems.push(`${count} objects, ${cached.size} cached, not ${objects + alive.length}`);
}
