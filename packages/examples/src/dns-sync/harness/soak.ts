import type { Harness } from "./harness.ts";
import type { Usage } from "./replica/report.ts";
import { measureUsage } from "./usage.ts";

/** Resource usage of a process at one moment. */
interface Sample extends Usage {
  /** Milliseconds since the start of the soak. */
  readonly at: number;
}

/** Minimum number of samples to judge growth. */
const ENOUGH = 12;

/** Maximum ratio of the last third's median to the first third's. */
const GROWTH = { heap: 1.15, sockets: 1.5, listeners: 1 };

/** Additional sockets allowed, because their number fluctuates. */
const SLACK = 8;

const MEGABYTE = 1_024 ** 2;
const HOUR = 3_600_000;

/** Samples memory, sockets and listeners of this process and of one replica that is never killed. */
export class Soak {
  readonly #harness: Harness;
  readonly #spared: string;
  readonly #samples = new Map<string, Sample[]>();
  readonly #begin: number;

  /** @param spared - name of that replica */
  constructor(harness: Harness, spared: string) {
    this.#harness = harness;
    this.#spared = spared;
    this.#begin = harness.clock.monotonic();
  }

  /** Takes one sample. Call it between faults. */
  sample(): void {
    const replica = this.#harness.replicas.all.find(({ name }) => name === this.#spared);
    this.#add("harness", measureUsage());
    this.#add(this.#spared, replica?.report?.usage);
  }

  lines(): string[] {
    return [...this.#samples].flatMap(([who, samples]) => {
      const [first] = samples;
      const last = samples.at(-1);
      if (first === undefined || last === undefined) return [];
      const slope = slopeOf(samples) / MEGABYTE;
      return [
        `${who}: heap ${megabytes(first.heap)} to ${megabytes(last.heap)} MB, ${slope.toFixed(1)} MB an hour; ` +
          `sockets ${rangeOf(samples, "sockets")}; listeners ${rangeOf(samples, "listeners")}; ` +
          `warnings ${last.warnings}; ${samples.length} samples`,
      ];
    });
  }

  /** Measures that grew, and warnings of Node. */
  problems(): readonly string[] {
    return [...this.#samples].flatMap(([who, samples]) => {
      const warnings = samples.at(-1)?.warnings ?? 0;
      const grown = samples.length < ENOUGH ? [] : grownIn(samples);
      return [
        ...grown.map((name) => `${who}: ${name} grew`),
        ...(warnings > 0 ? [`${who}: ${warnings} warnings of Node`] : []),
      ];
    });
  }

  #add(who: string, usage: Usage | undefined): void {
    if (usage === undefined) return;
    const at = this.#harness.clock.monotonic() - this.#begin;
    const samples = this.#samples.get(who) ?? [];
    this.#samples.set(who, [...samples, { at, ...usage }]);
  }
}

type Measure = keyof typeof GROWTH;

/** Measures whose median grew from the first third to the last, after a warm-up of one sixth. */
export function grownIn(samples: readonly Usage[]): readonly Measure[] {
  const warm = samples.slice(Math.floor(samples.length / 6));
  const third = Math.floor(warm.length / 3);
  const medianOf = (part: readonly Usage[], name: Measure): number =>
    part.map((sample) => sample[name]).sort((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
  return (["heap", "sockets", "listeners"] as const).filter((name) => {
    const before = medianOf(warm.slice(0, third), name);
    return (
      medianOf(warm.slice(-third), name) > before * GROWTH[name] + (name === "sockets" ? SLACK : 0)
    );
  });
}

/** Growth of the heap in bytes per hour, by least squares. */
function slopeOf(samples: readonly Sample[]): number {
  const count = samples.length;
  const meanAt = samples.reduce((sum, { at }) => sum + at, 0) / count;
  const meanHeap = samples.reduce((sum, { heap }) => sum + heap, 0) / count;
  const over = samples.reduce((sum, { at, heap }) => sum + (at - meanAt) * (heap - meanHeap), 0);
  const under = samples.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0);
  return under === 0 ? 0 : (over / under) * HOUR;
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}

function rangeOf(samples: readonly Sample[], name: "sockets" | "listeners"): string {
  const values = samples.map((sample) => sample[name]);
  return `${Math.min(...values)} to ${Math.max(...values)}`;
}
