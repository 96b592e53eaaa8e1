import type { Timer } from "@holdfast/clock";
import { exponential, messageOf } from "@holdfast/kit";
import type { ResolvedExplore } from "./explore-options.ts";
import { Replica, type ReplicaOptions, type ReplicaWorld } from "./replica.ts";
import type { WaitingTimer } from "./replica-clock.ts";

/** Milliseconds that a stop may take. */
const STOP_LIMIT = 300_000;

/** Milliseconds from an exit to the next start, as a kubelet waits: doubled by each exit, up to the longest. */
const FIRST_RESTART = 10_000;
const LONGEST_RESTART = 300_000;

/** A life that lasts so long, in milliseconds, ends a row of exits. */
const LONG_LIFE = 600_000;

/** Exits in a row after which a program counts as one that does not run: two hours of restarts. */
const MAX_EXITS = 25;

/** The parts of a world that its replicas need. */
export interface FleetWorld extends ReplicaWorld {
  /** Runs the program in a replica, until it ends. */
  readonly systems: { run(replica: Replica): Promise<unknown> };
}

/** The options that say how many replicas run side by side, and what they share. */
type FleetOptions = Pick<ResolvedExplore<never>, "replicas"> & ReplicaOptions;

/** An exit of the program, without a stop. */
interface Exit {
  readonly text: string;
  readonly cause: unknown;
}

/** The replicas of a world: started, stopped, crashed, and started again after an exit. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #world: FleetWorld;
  readonly #restarts = new Set<Timer>();
  #live: Replica[] = [];
  #stopped: readonly Replica[] = [];
  #made = 0;
  #crashedAt: number | undefined;
  #isStopping = false;

  /** Exits in a row. */
  #exits = 0;
  #lastExit: Exit | undefined;

  constructor(options: FleetOptions, world: FleetWorld) {
    this.#options = options;
    this.#world = world;
  }

  /** Whether a replica that has crashed is still to start, or those that stop have not ended. */
  get isDown(): boolean {
    return this.#restarts.size > 0 || this.#isStopping;
  }

  /** The exit after which the program waits for its next start. */
  get exit(): string | undefined {
    return this.#restarts.size > 0 ? this.#lastExit?.text : undefined;
  }

  /** Whether a replica has crashed at this instant. */
  get isCrashing(): boolean {
    return this.#crashedAt === this.#world.clock.monotonic();
  }

  /** The timers of the replicas that run, and the starts to come. */
  pending(): WaitingTimer[] {
    const restarts = [...this.#restarts].map(({ deadline }) => ({ label: "restart", deadline }));
    return [...restarts, ...this.#live.flatMap(({ clock }) => clock.pending())];
  }

  /** The timers that the replicas of the last stop have left. */
  left(): WaitingTimer[] {
    return this.#stopped.flatMap(({ clock }) => clock.pending());
  }

  startAll(): void {
    // A process that has ended does nothing more, whatever it has left.
    for (const replica of this.#stopped) replica.crash();
    for (let count = 0; count < this.#options.replicas; count += 1) this.#start();
  }

  /** The replica is gone at once; another one starts in its place, but for one that is stopping. */
  crash(replica: Replica, downFor = 0): void {
    this.#crashedAt = this.#world.clock.monotonic();
    if (replica.crashed.aborted) return;
    const isStopping = replica.signal.aborted;
    this.#world.journal.note(replica.number, "crashed");
    this.end(replica);
    if (isStopping) return;
    if (downFor === 0) this.#start();
    else this.#restartIn(downFor);
  }

  /** All replicas are gone at once, and as many start in their place. */
  replaceAll(): void {
    for (const timer of this.#restarts) timer.stop();
    this.#restarts.clear();
    for (const replica of this.#live) {
      this.#world.journal.note(replica.number, "gives way to the other version");
      this.end(replica);
    }
    this.startAll();
  }

  /** All replicas are gone for good. */
  endAll(): void {
    for (const replica of this.#live) this.end(replica);
  }

  /** The replica is gone for good. */
  end(replica: Replica): void {
    replica.crash();
    this.#live = this.#live.filter((one) => one !== replica);
  }

  /** Asks all replicas to stop, and resolves when they have. */
  async stopAll(): Promise<void> {
    const { clock, journal } = this.#world;
    for (const timer of this.#restarts) timer.stop();
    this.#restarts.clear();
    const stopping = this.#live;
    this.#live = [];
    this.#stopped = stopping;
    this.#isStopping = true;
    const limit = clock.newTimer(STOP_LIMIT, { label: "stop" });
    const ended = Promise.all(stopping.map((replica) => replica.stop())).then(() => false);
    if (await Promise.race([ended, limit.fired]))
      journal.fail({ text: `the program has not stopped within ${STOP_LIMIT / 1_000} s` });
    limit.stop();
    this.#isStopping = false;
  }

  #start(): void {
    const { clock, journal, systems } = this.#world;
    journal.busyAt = journal.now;
    const replica = new Replica(++this.#made, this.#options, this.#world);
    const begun = clock.monotonic();
    this.#live.push(replica);
    replica.ended = systems.run(replica).then(
      () => this.#ended(replica, begun, { text: "the program ended by itself", cause: undefined }),
      (cause: unknown) =>
        this.#ended(replica, begun, { text: `the program failed: ${messageOf(cause)}`, cause }),
    );
  }

  #ended(replica: Replica, begun: number, exit: Exit): void {
    const { clock, journal } = this.#world;
    if (replica.crashed.aborted) return;
    if (replica.signal.aborted) {
      journal.note(replica.number, "stopped");
      if (exit.cause !== undefined) journal.fail(exit);
      return;
    }
    this.end(replica);
    journal.note(replica.number, exit.text);
    const isLong = clock.monotonic() - begun >= LONG_LIFE;
    this.#exits = isLong ? 1 : this.#exits + 1;
    this.#lastExit = exit;
    if (this.#exits === MAX_EXITS) journal.fail(exit);
    else this.#restartIn(Math.min(exponential(FIRST_RESTART, 2, this.#exits - 1), LONGEST_RESTART));
  }

  #restartIn(delay: number): void {
    const start = (): void => {
      this.#restarts.delete(timer);
      this.#start();
    };
    const timer = this.#world.clock.afterFunc(delay, start, { label: "restart" });
    this.#restarts.add(timer);
  }
}
