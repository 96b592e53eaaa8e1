import type { Clock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { type Audit, audit, faultsOf } from "../audit.ts";
import { type DatabaseAddress, ProgramDatabase } from "../database/program-database.ts";
import { Receiver } from "../receiver/receiver.ts";
import type { Report } from "../worker/report.ts";
import type { WorkerOptions } from "../worker/worker-options.ts";
import { WorkerPool } from "../worker-pool.ts";
import { die } from "./die.ts";
import { nameOf, planOf, type Round } from "./plan.ts";
import { auditSchedule } from "./schedule-audit.ts";

/** How many workers go on while others die. */
const SURVIVORS = 2;

/** How often to look whether all is settled, in milliseconds. */
const PERIOD = 250;

/** Options for {@link Rounds}. */
export interface RoundsOptions extends DatabaseAddress {
  readonly rounds: number;
  /** Of the first round; the next has the next. */
  readonly seed: number;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

/**
 * In each round a worker is started, given some orders, and dies at a point that the seed decides.
 * Two others take over its messages during the next rounds.
 */
export class Rounds {
  readonly #options: RoundsOptions;
  readonly #plans: readonly Round[];
  readonly #placed = new Set<number>();
  #deaths = 0;
  #reached = 0;

  constructor(options: RoundsOptions) {
    this.#options = options;
    const { rounds, seed } = options;
    this.#plans = Array.from({ length: rounds }, (_, index) => planOf(index, seed + index));
  }

  /** @returns whether all checks passed */
  async run(signal: AbortSignal): Promise<boolean> {
    const { seed, clock } = this.#options;
    await using tables = await ProgramDatabase.open(this.#options);
    const apply = (id: string): Promise<boolean> => tables.apply(id);
    await using receiver = await Receiver.start({ apply, seed, clock });
    const optionsOf = (name: string): WorkerOptions => ({
      name,
      database: tables.name,
      databaseUrl: tables.url,
      target: receiver.url,
    });
    const pool = new WorkerPool({
      size: SURVIVORS,
      clock,
      onExit: () => undefined,
      optionsOf: (number) => optionsOf(`survivor-${number}`),
      onReport: (report) => this.#hear(report),
    });
    const stop = new AbortController();
    const working = pool.run(stop.signal);
    let isSettled = false;
    try {
      for (const round of this.#plans)
        await this.#play(round, { pool, options: optionsOf(`victim-${round.seed}`), signal });
      await this.#settled(tables, pool, signal);
      isSettled = true;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stop.abort();
      await working;
    }
    return await this.#judge(tables, receiver, isSettled);
  }

  async #play(
    round: Round,
    given: {
      readonly pool: WorkerPool;
      readonly options: WorkerOptions;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { clock, log } = this.#options;
    const { pool, options, signal } = given;
    const { isPlanned, open } = await die(round, options, { clock, signal });
    this.#deaths++;
    if (isPlanned) this.#reached++;
    for (const order of round.orders) if (!open.includes(order)) this.#placed.add(order);
    pool.place(open);
    const how = isPlanned ? nameOf(round.death) : `never reached ${nameOf(round.death)}; killed`;
    log(`seed ${round.seed}: ${how}, ${round.orders.length - open.length} orders placed`);
  }

  #hear(report: Report): void {
    if (report.type === "placed") this.#placed.add(report.order);
  }

  async #settled({ store }: ProgramDatabase, pool: WorkerPool, signal: AbortSignal): Promise<void> {
    const isSettled = async (): Promise<boolean> => {
      if (pool.open > 0) return false;
      const { pending, retrying } = await store.counts();
      return pending + retrying === 0;
    };
    const { clock } = this.#options;
    await poll(isSettled, { backoff: { duration: PERIOD }, clock, signal });
  }

  async #judge(
    { database }: ProgramDatabase,
    { ledger }: Receiver,
    isSettled: boolean,
  ): Promise<boolean> {
    const { log } = this.#options;
    const faults: string[] = isSettled ? [] : ["stopped before every message was settled"];
    const figuresOf = (orders: readonly number[]): Promise<Audit> =>
      audit({ orders, placed: this.#placed, seen: ledger.ids }, database);
    for (const { seed, orders, death } of this.#plans)
      for (const fault of faultsOf(await figuresOf(orders), isSettled))
        faults.push(`seed ${seed}, ${nameOf(death)}: ${fault}`);
    const { waits, wrong } = await auditSchedule(database);
    faults.push(...wrong);
    const all = await figuresOf(this.#plans.flatMap(({ orders }) => orders));
    const { attempts, duplicates } = ledger.counts;
    const { sent, delivered, dead, lost, waiting, unplaced, missing, twice } = all;
    log("");
    log(`${this.#deaths} workers died, ${this.#reached} of them at the planned step.`);
    log(`${sent} orders committed: ${delivered} delivered, ${dead} dead.`);
    if (!isSettled) log(`${waiting} messages were waiting, ${unplaced} orders not placed.`);
    log(`${lost + missing} lost, ${isSettled ? waiting : 0} stuck, ${twice} effects twice.`);
    log(`${attempts} attempts arrived, ${duplicates} of them duplicates.`);
    log(`${waits} waits compared with the formula, ${wrong.length} wrong.`);
    for (const fault of faults) log(fault);
    log(faults.length === 0 ? "All checks passed." : `${faults.length} faults`);
    return faults.length === 0;
  }
}
