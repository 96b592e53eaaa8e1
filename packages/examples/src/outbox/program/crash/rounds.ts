import type { Clock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { PostgresStore } from "../../store/postgres-store.ts";
import { audit, faultsOf } from "../audit.ts";
import { Crew } from "../crew.ts";
import { ProgramDatabase } from "../database/program-database.ts";
import { Receiver } from "../receiver/receiver.ts";
import type { WorkerOptions } from "../worker/worker-options.ts";
import { die } from "./die.ts";
import { nameOf, planOf, type Round } from "./plan.ts";
import { auditSchedule } from "./schedule-audit.ts";

/** How many workers go on while others die. */
const SURVIVORS = 2;

/** How often to look whether all is settled, in milliseconds. */
const PERIOD = 250;

/** What {@link Rounds} are made of. */
export interface RoundsOptions {
  readonly rounds: number;
  /** Of the first round; the next has the next. */
  readonly seed: number;
  readonly databaseUrl: string | undefined;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

/**
 * In each round a worker is started, given some orders, and dies at a point that the seed decides.
 * Two others take over what it leaves behind, while the next rounds go on.
 */
export class Rounds {
  readonly #options: RoundsOptions;
  readonly #plans: readonly Round[];
  #reached = 0;

  constructor(options: RoundsOptions) {
    this.#options = options;
    const { rounds, seed } = options;
    this.#plans = Array.from({ length: rounds }, (_, index) => planOf(index, seed + index));
  }

  /** @returns whether all is as it must be */
  async run(signal: AbortSignal): Promise<boolean> {
    const { databaseUrl, seed, clock } = this.#options;
    await using tables = await ProgramDatabase.open(databaseUrl);
    await using receiver = await Receiver.start({ database: tables.database, seed, clock });
    const optionsOf = (name: string): WorkerOptions => ({
      ...{ name, databaseUrl: tables.url, target: receiver.url },
    });
    const crew = new Crew({
      ...{ size: SURVIVORS, clock, onReport: () => undefined, onExit: () => undefined },
      optionsOf: (number) => optionsOf(`survivor-${number}`),
    });
    const stop = new AbortController();
    const working = crew.run(stop.signal);
    try {
      for (const round of this.#plans)
        await this.#play(round, { crew, options: optionsOf(`victim-${round.seed}`), signal });
      await this.#settled(tables, crew, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stop.abort();
      await working;
    }
    return await this.#judge(tables, receiver);
  }

  async #play(
    round: Round,
    given: { readonly crew: Crew; readonly options: WorkerOptions; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock, log } = this.#options;
    const { crew, options, signal } = given;
    const { isPlanned, open } = await die(round, options, { clock, signal });
    if (isPlanned) this.#reached++;
    crew.place(open);
    const how = isPlanned ? nameOf(round.death) : `never got to ${nameOf(round.death)}: killed`;
    log(`seed ${round.seed}: ${how}, ${round.orders.length - open.length} orders placed`);
  }

  async #settled({ database }: ProgramDatabase, crew: Crew, signal: AbortSignal): Promise<void> {
    const store = new PostgresStore(database);
    const isSettled = async (): Promise<boolean> => {
      if (crew.open > 0) return false;
      const { pending, failed } = await store.counts();
      return pending + failed === 0;
    };
    const { clock } = this.#options;
    await poll(isSettled, { backoff: { duration: PERIOD }, clock, signal });
  }

  async #judge({ database }: ProgramDatabase, { ledger }: Receiver): Promise<boolean> {
    const { log } = this.#options;
    const faults: string[] = [];
    for (const { seed, orders, death } of this.#plans) {
      const figures = await audit(orders, ledger.ids, database);
      for (const fault of faultsOf(figures))
        faults.push(`seed ${seed}, ${nameOf(death)}: ${fault}`);
    }
    const { waits, wrong } = await auditSchedule(database);
    faults.push(...wrong);
    const all = await audit(
      this.#plans.flatMap(({ orders }) => orders),
      ledger.ids,
      database,
    );
    log("");
    const { attempts, duplicates } = ledger.counts;
    const { sent, delivered, dead, lost, stuck, missing, twice } = all;
    log(`${this.#plans.length} workers died, ${this.#reached} of them where they should.`);
    log(`${sent} orders committed: ${delivered} delivered, ${dead} dead.`);
    log(`${lost + missing} lost, ${stuck} stuck, ${twice} effects twice.`);
    log(`${attempts} attempts arrived, ${duplicates} of them duplicates.`);
    log(`${waits} waits compared with the formula, ${wrong.length} wrong.`);
    for (const fault of faults) log(fault);
    log(faults.length === 0 ? "All is as it must be." : `${faults.length} faults`);
    return faults.length === 0;
  }
}
