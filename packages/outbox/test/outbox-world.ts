import { onAbort } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, type ResourceLock, RetryAfterError, silentLogger } from "@holdfast/controller";
import {
  type Message,
  type NewMessage,
  Outbox,
  type OutboxEvent,
  type Publisher,
  Recovery,
  Relay,
} from "@holdfast/outbox";
import { delayAfter, type OutboxStore } from "@holdfast/outbox/store";
import { MemoryStore, MemoryTransaction } from "@holdfast/outbox/testing";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { SkewedClock } from "../../../test/skewed-clock.ts";
import { idOf, sample } from "./sample.ts";

/** What may go wrong, each with its probability per request. */
interface Weather {
  /** The process dies just before it sends a request, or while it waits for the response. */
  readonly death: number;
  /** The request or its response is lost. */
  readonly lost: number;
  /** The receiver fails, hangs, or asks for acquireTimeout. */
  readonly refusal: number;
}

const STORM: Weather = { death: 0.01, lost: 0.03, refusal: 0.3 };
const CALM: Weather = { death: 0, lost: 0, refusal: 0 };

const SECOND = 1_000;
/** Wall clocks differ by at most that much, and the relays know it. */
const CLOCK_SKEW = 2 * SECOND;
const JITTER = 0.1;
const SCHEDULE = { backoff: { duration: 750, factor: 3 } };

/** Few, so that messages of a key wait for one another. */
const KEYS = 5;

/** More than one, so that one is held beside others. */
const TOPICS = 2;

/** One attempt that is under way. */
interface Attempt {
  readonly process: Process;
  /** The process stood still meanwhile: what it does then is not its fault. */
  wasPaused: boolean;
}

/** One process: it saves messages, sends them, and recovers those of others. */
class Process {
  readonly clock: SkewedClock;
  readonly relay: Relay;
  readonly ended: Promise<unknown>;
  readonly stop = new AbortController();
  readonly name: string;
  readonly #world: OutboxWorld;
  readonly #outbox: Outbox<MemoryTransaction>;

  constructor(name: string, world: OutboxWorld) {
    const { real, random, memory } = world;
    this.name = name;
    this.#world = world;
    this.clock = new SkewedClock(real, { rate: 1, offset: (random() - 0.5) * CLOCK_SKEW });
    const { clock } = this;
    const store = this.#remote<OutboxStore<never>>(memory, "store");
    const onEvent = (event: OutboxEvent): void => world.saw(event);
    const common = { name, store, clock, random, jitter: JITTER, onEvent, logger: silentLogger };
    this.relay = new Relay({
      ...common,
      publisher: this.#publisher(),
      workers: 2,
      breaker: { failures: 3, openFor: 2 * SECOND },
      publishTimeout: 3 * SECOND,
      claimDuration: 8 * SECOND,
      clockSkew: CLOCK_SKEW,
      pollInterval: 2 * SECOND,
      storeTimeout: 4 * SECOND,
      grace: 5 * SECOND,
    });
    const recovery = new Recovery({
      ...common,
      lock: this.#remote<ResourceLock>(world.lock, "lock"),
      leaseDuration: 20 * SECOND,
      interval: 2 * SECOND,
      minRound: SECOND,
      acquireTimeout: 2 * SECOND,
      storeTimeout: 4 * SECOND,
    });
    this.#outbox = new Outbox<MemoryTransaction>({
      store: memory,
      transaction: (work) => this.#transaction(work),
      onCommitted: () => this.relay.wake(),
      clock,
    });
    const { signal } = this.stop;
    this.ended = Promise.all([this.relay.run(signal), recovery.run(signal), this.#trade()]);
  }

  get isDead(): boolean {
    return this.#world.isDead(this);
  }

  /** Sells things, each with a message, until it is aborted. */
  async #trade(): Promise<void> {
    const { random } = this.#world;
    while (!this.stop.signal.aborted) {
      await this.clock.sleep(random() * 2 * SECOND);
      const numbers = Array.from({ length: Math.ceil(random() * 3) }, () => this.#world.number());
      const isRolledBack = random() < 0.2;
      if (!this.#world.isOpen) continue;
      const sold = this.#outbox.transaction(async (tx) => {
        for (const number of numbers) await this.#outbox.save(tx, this.#message(number));
        if (isRolledBack) throw new Error("no stock");
      });
      void sold.catch(() => {}); // Nobody may ever hear of it.
    }
  }

  #message(number: number): NewMessage {
    const maxAttempts = 1 + Math.floor(this.#world.random() * 6);
    return sample(number, {
      ...SCHEDULE,
      maxAttempts,
      key: `${number % KEYS}`,
      topic: `${number % TOPICS}`,
    });
  }

  async #transaction<Value>(work: (tx: MemoryTransaction) => Promise<Value>): Promise<Value> {
    const { memory } = this.#world;
    const tx = new MemoryTransaction();
    const value = await work(tx);
    await this.send("commit", async () => {
      await memory.transaction(async ({ saved }) => {
        saved.push(...tx.saved);
      });
      for (const { id } of tx.saved) this.#world.committed(id);
    });
    return value;
  }

  /** What is on the other side of a network. */
  #remote<Target extends object>(target: Target, kind: string): Target {
    return new Proxy(target, {
      get: (_, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) =>
          this.send(`${kind}.${String(name)}`, () => member.apply(target, args));
      },
    });
  }

  /** One process in two sends batches. */
  #publisher(): Publisher {
    const publisher: Publisher = {
      publish: async (message, signal) => {
        const attempt = this.#world.begins(this, message);
        try {
          await new Promise<void>((resolve, reject) => {
            onAbort(signal, reject);
            this.send("publish", () => this.#world.receive(message)).then(resolve, reject);
          });
        } finally {
          this.#world.ends(message, attempt);
        }
      },
    };
    if (Number(this.name) % 2 === 0) return publisher;
    const publishMany: Publisher["publishMany"] = (messages, signal) =>
      Promise.allSettled(messages.map((message) => publisher.publish(message, signal)));
    return { ...publisher, publishMany };
  }

  /** Sends a request and waits for its response. Both take time, and this process may die meanwhile. */
  async send<Value>(request: string, call: () => Promise<Value>): Promise<Value> {
    const world = this.#world;
    if (world.strikes(this, `before ${request}`)) return await new Promise(() => {});
    await world.travel();
    const response = call();
    await response.catch(() => {});
    world.strikes(this, `after ${request}`);
    await world.travel();
    await new Promise<void>((resolve) => this.clock.deliver(resolve));
    return await response;
  }
}

/** What a run came to. */
export interface Verdict {
  readonly committed: number;
  readonly duplicates: number;
  readonly deaths: ReadonlyMap<string, number>;
  readonly events: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

/** Some processes, their network, a database, a receiver, and a judge who sees everything. */
export class OutboxWorld {
  readonly real = new FakeClock();
  readonly memory: MemoryStore;
  readonly lock: MemoryLock = new MemoryLock();
  readonly random: Random;
  readonly #processes: Process[] = [];
  /** In the order of their commits. */
  readonly #committed = new Set<string>();
  #isReplayed = false;
  readonly #effects = new Set<string>();
  readonly #attempts = new Map<string, Set<Attempt>>();
  readonly #deaths = new Map<string, number>();
  readonly #events = new Map<string, number>();
  readonly #faults: string[] = [];
  #duplicates = 0;
  #weather = STORM;
  #born = 0;
  #numbers = 0;
  isOpen = true;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.memory = new MemoryStore({ order: seed % 2 === 0 ? "none" : "key" });
  }

  async run(): Promise<Verdict> {
    return await this.real.run(
      async () => {
        const count = 2 + Math.floor(this.random() * 4);
        for (let i = 0; i < count; i++) this.#add();
        await this.#storm();
        this.#weather = CALM;
        this.isOpen = false;
        await this.real.sleep(150 * SECOND);
        this.#isReplayed = true; // What is sent now may come after what was saved later.
        await this.memory.replay("all", this.real.now());
        await this.real.sleep(30 * SECOND);
        for (const { stop } of this.#processes) stop.abort();
        await Promise.all(this.#processes.map(({ ended }) => ended));
        await this.#judge();
        return {
          committed: this.#committed.size,
          duplicates: this.#duplicates,
          deaths: this.#deaths,
          events: this.#events,
          faults: this.#faults,
        };
      },
      { turns: 0 },
    );
  }

  isDead(process: Process): boolean {
    return !this.#processes.includes(process);
  }

  number(): number {
    return ++this.#numbers;
  }

  committed(id: string): void {
    this.#committed.add(id);
  }

  /** A request or an response on its way. One that is lost never comes. */
  async travel(): Promise<void> {
    if (this.random() < this.#weather.lost / 2) await new Promise(() => {});
    await this.real.sleep(this.random() ** 4 * 500);
  }

  /** @returns whether the process is dead now */
  strikes(process: Process, point: string): boolean {
    if (!process.isDead && this.random() < this.#weather.death) {
      count(this.#deaths, point);
      for (const { reason } of process.relay.status().held) count(this.#deaths, reason);
      this.#kill(process);
    }
    return process.isDead;
  }

  /** What the receiver does with a message: it knows by the id what it has seen. */
  async receive({ id }: Message): Promise<void> {
    const chance = this.random() / this.#weather.refusal;
    if (chance < 0.4) throw new Error("500");
    if (chance < 0.6) throw new RetryAfterError(this.random() * 20 * SECOND);
    if (chance < 0.8) await new Promise(() => {});
    if (!this.#committed.has(id)) this.#fault(`${id} came, and was never committed`);
    if (this.#effects.has(id)) this.#duplicates++;
    this.#effects.add(id);
    if (chance < 1) await new Promise(() => {}); // It worked, and nobody hears of it.
  }

  begins(process: Process, message: Message): Attempt {
    const attempt = { process, wasPaused: false };
    const attempts = this.#attempts.get(message.id) ?? new Set();
    for (const other of attempts)
      if (!other.process.isDead && !other.wasPaused)
        this.#fault(`${message.id} is worked on by ${other.process.name} and ${process.name}`);
    const { dueAt = 0, failedAttempts } = message;
    if (failedAttempts > 0 && process.clock.now() < dueAt)
      this.#fault(`${message.id} is tried before it is due`);
    this.#attempts.set(message.id, attempts.add(attempt));
    if (this.memory.order === "key" && !this.#isReplayed) void this.#checkOrder(message);
    return attempt;
  }

  /** Those of its key that were committed before are delivered or dead. */
  async #checkOrder({ id, key }: Message): Promise<void> {
    const ids = [...this.#committed];
    const earlier = ids.slice(0, ids.indexOf(id)).map((other) => this.memory.find(other));
    for (const other of await Promise.all(earlier))
      if (other?.key === key && other.dueAt !== undefined)
        this.#fault(`${id} is sent before ${other.id}, which is ${other.status}`);
  }

  ends({ id }: Message, attempt: Attempt): void {
    this.#attempts.get(id)?.delete(attempt);
  }

  /** Every wait is as the schedule says. */
  saw(event: OutboxEvent): void {
    count(this.#events, event.type);
    if (event.type !== "failed" && event.type !== "expired") return;
    const { claim, failure } = event;
    if (failure.dueAt === undefined) return;
    const wait = failure.dueAt - failure.now;
    const { failedAttempts, expiredClaims } = claim.message;
    const alone = event.type === "expired" ? expiredClaims : 1;
    const planned = alone > 0 ? delayAfter(failedAttempts + alone, claim.message.backoff) : 0;
    const isAsked = failure.error.startsWith("RetryAfterError");
    const longest = Math.max(planned * (1 + JITTER), isAsked ? 20 * SECOND : 0) + 2;
    if (wait < planned || wait > longest)
      this.#fault(`${claim.message.id} waits ${wait} ms instead of ${planned}`);
  }

  /** Everything goes wrong, and topics are paused and resumed meanwhile: deaths, pauses, lost requests, a receiver that refuses. */
  async #storm(): Promise<void> {
    for (let i = 0; i < 12; i++) {
      await this.real.sleep(this.random() * 10 * SECOND);
      const victim = this.#processes[Math.floor(this.random() * this.#processes.length)];
      if (victim !== undefined && this.random() < 0.5) this.#pause(victim);
      const topic = `${Math.floor(this.random() * TOPICS)}`;
      if (this.random() < 0.3) await this.memory.pause(topic);
      else await this.memory.resume(topic);
    }
    for (const topic of await this.memory.pausedTopics()) await this.memory.resume(topic);
  }

  #pause(process: Process): void {
    if (process.clock.isPaused) return;
    process.clock.pause();
    for (const attempts of this.#attempts.values())
      for (const attempt of attempts) if (attempt.process === process) attempt.wasPaused = true;
    this.real.afterFunc(this.random() * 40 * SECOND, () =>
      process.clock.resume((items) => items.sort(() => this.random() - 0.5)),
    );
  }

  /** It never goes on; another one takes its place. */
  #kill(process: Process): void {
    process.clock.die();
    this.#processes.splice(this.#processes.indexOf(process), 1);
    this.real.afterFunc(this.random() * 3 * SECOND, () => this.#add());
  }

  #add(): void {
    this.#processes.push(new Process(`${++this.#born}`, this));
  }

  async #judge(): Promise<void> {
    for (const id of this.#committed)
      if (!this.#effects.has(id))
        this.#fault(`${id} is lost: ${JSON.stringify(await this.memory.find(id))}`);
    const { pending, retrying, dead } = await this.memory.counts();
    if (pending + retrying + dead > 0) this.#fault(`stuck: ${pending} + ${retrying} + ${dead}`);
    for (const { clock, name } of this.#processes)
      if (clock.armed > 0) this.#fault(`${name} has left ${clock.armed} timers`);
    for (let number = 1; number <= this.#numbers; number++)
      if (
        !this.#committed.has(idOf(number)) &&
        (await this.memory.find(idOf(number))) !== undefined
      )
        this.#fault(`${number} is there, and was never committed`);
  }

  #fault(text: string): void {
    this.#faults.push(`${this.real.monotonic()}: ${text}`);
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
