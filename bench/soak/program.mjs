// A process under load, which its parent asks how it is.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import { liveBytes, median } from "../measure.mjs";

const SAMPLES = 60;

/** How much the live heap and RSS may grow from the first third to the last one, after a quarter of the time; and noise. */
const LIMITS = { heap: 0.05, rss: 0.15 };
const NOISE = 4e6;

/** In the process: answers questions. To `tell` it adds memory, in bytes, and CPU, in seconds. */
export function answering({ tell, ...others }) {
  const answers = {
    ...others,
    tell() {
      const heap = liveBytes();
      const { user, system } = process.cpuUsage();
      return { heap, rss: process.memoryUsage.rss(), cpu: (user + system) / 1e6, ...tell() };
    },
  };
  process.on("message", async ({ id, question, value }) => {
    process.send?.({ id, answer: await answers[question](value) });
  });
  process.once("disconnect", () => process.exit());
}

/** In the parent. */
export class Program {
  #questions = 0;
  #answers = new Map();

  constructor(file, env, onMessage = () => {}) {
    this.log = join(mkdtempSync(join(tmpdir(), "holdfast-soak-")), "log");
    const log = openSync(this.log, "a");
    this.child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      execArgv: ["--expose-gc"],
      env: { ...process.env, ...env },
      stdio: ["ignore", log, log, "ipc"],
      detached: true, // Ctrl-C is for the parent
    });
    console.log(`${file}: process ${this.child.pid}, log ${this.log}`);
    this.ended = once(this.child, "exit").then(([code]) => {
      throw new Error(`the process ended with code ${code}: see ${this.log}`);
    });
    this.ended.catch(() => undefined);
    this.child.on("message", ({ id, answer, ...message }) => {
      if (id === undefined) onMessage(message);
      this.#answers.get(id)?.(answer);
      this.#answers.delete(id);
    });
  }

  /** @throws Error if the process has ended */
  async ask(question, value) {
    const id = ++this.#questions;
    const answered = new Promise((resolve) => this.#answers.set(id, resolve));
    this.child.send({ id, question, value });
    return await Promise.race([answered, this.ended]);
  }

  async [Symbol.asyncDispose]() {
    this.child.kill("SIGKILL");
    if (process.exitCode === 0) rmSync(dirname(this.log), { recursive: true }); // a failure leaves its log
  }
}

/**
 * Runs until the time is over or the signal aborts: samples a process, and does what the timeline says, one thing after another.
 *
 * @param timeline - rows of a share of the time, a name and a function
 */
export async function observe({ program, minutes, timeline = [], signal, more = () => ({}) }) {
  const began = performance.now();
  const minute = () => (performance.now() - began) / 60_000;
  const until = async (at) => await pause((at - minute()) * 60_000, signal);
  const [samples, events] = [[], []];
  const sampling = async () => {
    for (let i = 1; i <= SAMPLES && (await until((i * minutes) / SAMPLES)); i++) {
      samples.push({ ...(await program.ask("tell")), ...more(), minute: minute() });
      console.log(JSON.stringify(samples.at(-1)));
    }
  };
  const acting = async () => {
    for (const [share, name, act] of timeline) {
      if (!(await until(share * minutes))) return;
      const event = { minute: minute(), name };
      events.push(event);
      await act();
      console.log(`${name}: ${((minute() - event.minute) * 60).toFixed(1)} s`);
    }
  };
  await Promise.all([sampling(), acting()]);
  return { samples, events, minutes: samples.at(-1)?.minute ?? minutes };
}

/** @returns whether the time has passed; false if the signal aborted before */
export async function pause(milliseconds, signal) {
  return await realClock.sleep(Math.max(milliseconds, 0), { signal }).then(
    () => true,
    () => false,
  );
}

/** Figures and problems of the memory of a run. */
export function memoryOf(samples) {
  const steady = samples.slice(Math.floor(samples.length / 4));
  const third = Math.ceil(steady.length / 3);
  const figures = {};
  const problems = samples.length < 8 ? [`${samples.length} samples are too few`] : [];
  for (const [name, limit] of Object.entries(LIMITS)) {
    const values = steady.map((sample) => sample[name]);
    const [first, last] = [median(values.slice(0, third)), median(values.slice(-third))];
    const most = Math.max(...samples.map((sample) => sample[name]));
    figures[`${name} of the first third, of the last, largest`] = [first, last, most].map(mb);
    if (last > first * (1 + limit) + NOISE)
      problems.push(`${name} grew from ${mb(first)} to ${mb(last)}`);
  }
  return { figures, problems };
}

const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** The slowest of some times, in seconds, since it was last taken. */
export class Slowest {
  #seconds = 0;
  add(since) {
    this.#seconds = Math.max(this.#seconds, (performance.now() - since) / 1_000);
  }
  take() {
    const slowest = this.#seconds;
    this.#seconds = 0;
    return { slowest };
  }
}
