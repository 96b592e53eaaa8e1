import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Clock } from "@holdfast/clock";
import { DnsProvider } from "../../provider/dns-provider.ts";
import { type ProviderServer, serveProvider } from "../../provider/serve-provider.ts";
import type { Harness } from "../harness.ts";
import type { Truth } from "../truth.ts";
import type { BaselineOptions, BaselineReport } from "./baseline-report.ts";

const MAIN = fileURLToPath(new URL("./main.js", import.meta.url));

/** Maximum time behind the server before the baseline counts as dead, in milliseconds. */
const SILENCE = { afterError: 15_000, without: 60_000 };

/** Interval between comparisons in milliseconds. */
const PERIOD = 1_000;

/** The end of the baseline. */
export interface Death {
  /** Milliseconds since its start. */
  readonly after: number;
  readonly reason: string;
}

interface LaneParts {
  readonly clock: Clock;
  readonly provider: DnsProvider;
  readonly server: ProviderServer;
}

/** A process with the official client's informer, and its own provider with the same faults. */
export class Baseline implements AsyncDisposable {
  readonly provider: DnsProvider;
  readonly #server: ProviderServer;
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #begin: number;
  readonly #exited: Promise<unknown>;
  #report: BaselineReport | undefined;
  #behindSince: number | undefined;
  #death: Death | undefined;
  #drift = 0;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #lastWords = "";
  #isStopping = false;

  readonly #onDeath: (death: Death) => void;

  private constructor(
    { clock, provider, server }: LaneParts,
    options: BaselineOptions,
    onDeath: (death: Death) => void,
  ) {
    this.provider = provider;
    this.#server = server;
    this.#clock = clock;
    this.#onDeath = onDeath;
    this.#begin = clock.monotonic();
    this.#child = fork(MAIN, [JSON.stringify(options)], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      detached: true,
    });
    this.#child.on("message", (report: BaselineReport) => {
      this.#report = report;
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      const line = text.split("\n").find((one) => /^\s*(\w*Error|HTTP|Message|.*ECONN)/.test(one));
      this.#lastWords = line?.trim() ?? this.#lastWords;
    });
    this.#exited = once(this.#child, "close").then(([code, signal]) => {
      const end = `the process ended (${signal ?? `code ${code}`})`;
      if (!this.#isStopping) this.#die(`${end}: ${this.#lastWords}`);
    });
  }

  static async open(harness: Harness): Promise<Baseline> {
    const {
      api,
      clock,
      random,
      log,
      provider: { faults },
    } = harness;
    const provider = new DnsProvider({ clock, random, faults });
    const server = await serveProvider(provider);
    const { access, namespace } = api;
    const options = { access, namespace, providerUrl: server.url };
    const onDeath = ({ reason }: Death): void => log.add("baseline", `died: ${reason}`);
    const baseline = new Baseline({ clock, provider, server }, options, onDeath);
    harness.onChange(() => baseline.compareWith(harness.truth));
    return baseline;
  }

  get report(): BaselineReport | undefined {
    return this.#report;
  }

  get death(): Death | undefined {
    return this.#death;
  }

  /** Differences between the records and the baseline's provider. */
  get drift(): number {
    return this.#drift;
  }

  /** Compares the baseline with the server, at most once a second. */
  compareWith(truth: Truth): void {
    const now = this.#clock.monotonic();
    if (!truth.isReady || now - this.#comparedAt < PERIOD) return;
    this.#comparedAt = now;
    this.#drift = truth.differences(this.provider).length;
    if (this.#report !== undefined) this.#judge(this.#report, truth.version, now);
  }

  #judge({ version, lastError }: BaselineReport, latest: number, now: number): void {
    if (version >= latest) this.#behindSince = undefined;
    else this.#behindSince ??= now;
    const limit = lastError === "" ? SILENCE.without : SILENCE.afterError;
    if (this.#behindSince === undefined || now - this.#behindSince < limit) return;
    const error = lastError === "" ? "it reported no error" : `last error: ${lastError}`;
    this.#die(`its informer stopped receiving events; ${error}`, this.#behindSince);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    this.#child.kill("SIGTERM");
    await this.#exited;
    await this.#server[Symbol.asyncDispose]();
  }

  #die(reason: string, at: number = this.#clock.monotonic()): void {
    if (this.#death !== undefined) return;
    this.#death = { after: at - this.#begin, reason };
    this.#onDeath(this.#death);
  }
}
