import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Labels, MetricSink, ReadMetric } from "../metrics.ts";

/** Registers each metric. prom-client rejects a name that the registry has already. */
export function prometheusSink(register: Registry): MetricSink {
  const registers = [register];
  return {
    counter: ({ labelNames = [], ...metric }) => {
      const counter = new Counter({ ...metric, labelNames, registers });
      return { add: (labels, count = 1) => counter.inc(labels, count) };
    },
    histogram: ({ labelNames = [], buckets: bounds, ...metric }) => {
      // Bounds are compared by `<=`, which converts a string to a number, and printed unchanged.
      const buckets = bounds as unknown[] as number[];
      const histogram = new Histogram({ ...metric, labelNames, buckets, registers });
      return {
        zero: (labels) => histogram.zero(labels),
        record: (labels, value) => histogram.observe(labels, value),
      };
    },
    gauge: ({ read, labelNames = [], ...metric }) => {
      new Gauge({
        ...metric,
        labelNames,
        registers,
        collect() {
          return renew(this, { read, labelNames }, (labels, value) => this.set(labels, value));
        },
      });
    },
    total: ({ read, labelNames = [], ...metric }) => {
      new Counter({
        ...metric,
        labelNames,
        registers,
        collect() {
          return renew(this, { read, labelNames }, (labels, value) => this.inc(labels, value));
        },
      });
    },
  };
}

/** Replaces all samples of a metric. */
async function renew<Label extends string>(
  metric: { reset(): void; remove(): void },
  { read, labelNames }: Pick<ReadMetric<Label>, "read" | "labelNames">,
  put: (labels: Labels<Label>, value: number) => void,
): Promise<void> {
  const samples = await read();
  metric.reset();
  if (labelNames?.length === 0) metric.remove(); // A reset leaves a 0, which nobody has measured.
  for (const [labels, value] of samples) put(labels, value);
}
