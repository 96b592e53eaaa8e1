/** A row of a table of metrics. */
export interface Metric<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly Label[];
}

/** The values of the labels of one series. */
export type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** One series of a metric, and its value now. */
export type Sample<Label extends string> = readonly [labels: Labels<Label>, value: number];

/** A metric whose samples are read at each scrape. Series that are not among them have ended. */
export interface ReadMetric<Label extends string> extends Metric<Label> {
  readonly read: () => Iterable<Sample<Label>> | Promise<Iterable<Sample<Label>>>;
}

/** A histogram. Bounds are numbers, or how a page of metrics spells them. */
export interface HistogramMetric<Label extends string> extends Metric<Label> {
  readonly buckets: readonly (number | string)[];
}

/** The series of a counter. */
export interface Counted<Label extends string> {
  add(labels: Labels<Label>, count?: number): void;
}

/** The series of a histogram. */
export interface Measured<Label extends string> {
  /** Shows the series before its first value, where that is possible. */
  zero(labels: Labels<Label>): void;
  record(labels: Labels<Label>, value: number): void;
}

/**
 * The library that metrics go to. The tables of the packages are written against this: a metric has one name, one
 * help and one set of labels, wherever it goes.
 */
export interface MetricSink {
  counter<Label extends string = never>(metric: Metric<Label>): Counted<Label>;
  histogram<Label extends string = never>(metric: HistogramMetric<Label>): Measured<Label>;
  gauge<Label extends string = never>(metric: ReadMetric<Label>): void;
  /** A counter that somebody else counts. */
  total<Label extends string = never>(metric: ReadMetric<Label>): void;
}

/** A gauge that is set when its value changes. A series begins with its first value. */
export class SetGauge<Label extends string = never> {
  readonly #samples = new Map<string, Sample<Label>>();

  constructor(sink: MetricSink, metric: Metric<Label>) {
    sink.gauge({ ...metric, read: () => this.#samples.values() });
  }

  set(labels: Labels<Label>, value: number): void {
    this.#samples.set(JSON.stringify(labels), [labels, value]);
  }

  add(labels: Labels<Label>, change: number): void {
    const [, value = 0] = this.#samples.get(JSON.stringify(labels)) ?? [];
    this.set(labels, value + change);
  }
}
