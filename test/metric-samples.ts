import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  InstrumentType,
  MeterProvider,
  type MetricData,
  MetricReader,
} from "@opentelemetry/sdk-metrics";
import type { Registry } from "prom-client";

/** A metric with at least one sample. */
export interface Kept {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** As lines of a page, sorted. */
  readonly samples: readonly string[];
}

class Reader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/**
 * A meter, and all that it holds at a collection, by name. Of a gauge with cumulative temporality the SDK goes on
 * exporting series that no callback observes any more.
 */
export function newMeter() {
  const { CUMULATIVE, DELTA } = AggregationTemporality;
  const reader = new Reader({
    aggregationTemporalitySelector: (type) =>
      type === InstrumentType.OBSERVABLE_GAUGE ? DELTA : CUMULATIVE,
  });
  const meter = new MeterProvider({ readers: [reader] }).getMeter("test");
  const collect = async (): Promise<readonly Kept[]> => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw new AggregateError(errors);
    return byName(resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics).map(keptIn));
  };
  return { meter, collect };
}

function keptIn(metric: MetricData): Kept {
  const { name, description: help } = metric.descriptor;
  switch (metric.dataPointType) {
    case DataPointType.HISTOGRAM: {
      const samples = metric.dataPoints.flatMap((point) =>
        samplesOf(name, point.attributes, point.value),
      );
      return { name, help, type: "histogram", samples };
    }
    case DataPointType.SUM:
    case DataPointType.GAUGE: {
      const type = metric.dataPointType === DataPointType.SUM ? "counter" : "gauge";
      const samples = metric.dataPoints.map((one) => sample(name, one.attributes, one.value));
      return { name, help, type, samples };
    }
    default:
      throw new Error(`${name} is an exponential histogram`);
  }
}

function samplesOf(name: string, labels: object, { buckets, sum = 0, count }: Histogram): string[] {
  let below = 0;
  const counts = [...buckets.boundaries.map(String), "+Inf"].map((le, index) => {
    below += buckets.counts[index] ?? 0;
    return sample(`${name}_bucket`, { ...labels, le }, below);
  });
  return [...counts, sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, count)];
}

/** The same of a registry, which shows a histogram before its first value: such series are left out. */
export async function keptBy(register: Registry): Promise<readonly Kept[]> {
  const all = await register.getMetricsAsJSON();
  return byName(
    all.map(({ name, help, type, values }) => {
      const series = values.map(({ labels, value, ...more }) => ({
        labels: labels as Readonly<Record<string, string>>,
        value,
        name: (more as { metricName?: string }).metricName ?? name,
      }));
      const unused = series.filter((one) => one.name === `${name}_count` && one.value === 0);
      const isUsed = (one: (typeof series)[0]): boolean =>
        !unused.some(({ labels }) =>
          Object.entries(labels).every(([label, value]) => one.labels[label] === value),
        );
      const samples = series.filter(isUsed).map((one) => sample(one.name, one.labels, one.value));
      return { name, help, type: String(type), samples };
    }),
  );
}

function sample(name: string, labels: object, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => {
    const isBound = label === "le" && text !== "+Inf"; // "1e-08" and 1e-8
    return `${label}="${isBound ? Number(text) : text}"`;
  });
  return `${name}{${pairs.sort()}} ${value}`;
}

/** Meters and registries have orders of their own. */
function byName(all: readonly Kept[]): readonly Kept[] {
  return all
    .filter(({ samples }) => samples.length > 0)
    .map((one) => ({ ...one, samples: [...one.samples].sort() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
