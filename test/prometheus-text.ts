/** A metric of a page in the text format of Prometheus. */
export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly {
    readonly name: string;
    readonly labels: string;
    readonly value: number;
  }[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"`;
const VALUE = String.raw`[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|Inf)|Nan|NaN`;
/** In a text of help only the backslash and the end of a line are escaped. */
const COMMENT = new RegExp(String.raw`^# (HELP|TYPE) (${NAME}) ((?:[^\\]|\\[\\n])+)$`);
const SAMPLE = new RegExp(
  `^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*),?\\})? (${VALUE})(?: -?\\d+)?$`,
);
const TYPES = ["counter", "gauge", "histogram", "summary", "untyped"];
const SUFFIXES: Readonly<Record<string, string>> = {
  histogram: "(?:_bucket|_sum|_count)",
  summary: "(?:_sum|_count)?",
};

/**
 * Reads a page as a strict scraper does: the grammar of each line, one `HELP` and one `TYPE` before the samples of a
 * metric, its samples in one group, no series twice; counters that end in `_total` and do not fall below 0, histograms
 * whose buckets add up.
 *
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4.
 *
 * @throws Error with the line
 */
export function parsePrometheusText(text: string): Map<string, MetricFamily> {
  const families = new Map<
    string,
    { type: string; help: string; samples: MetricFamily["samples"][number][] }
  >();
  const series = new Set<string>();
  let current = "";
  if (!text.endsWith("\n")) throw new Error("the last line must end");
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const refuse = (problem: string): never => {
      throw new Error(`${problem}: ${line}`);
    };
    const [, comment, family = "", rest = ""] = COMMENT.exec(line) ?? [];
    if (comment !== undefined) {
      if (comment === "HELP" && families.has(family)) refuse("a metric in two groups");
      if (comment === "HELP") families.set(family, { type: "", help: rest, samples: [] });
      const one = families.get(family) ?? refuse("TYPE without HELP");
      if (comment === "TYPE") one.type = TYPES.includes(rest) ? rest : refuse("no type");
      current = family;
      continue;
    }
    const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? refuse("no sample");
    const own = families.get(current) ?? refuse("a sample without a metric");
    if (!new RegExp(`^${current}${SUFFIXES[own.type] ?? ""}$`).test(name))
      refuse(`a sample that is none of ${current}`);
    const key = `${name}{${labelsOf(labels).sort().join()}}`;
    if (series.has(key)) refuse("a series twice");
    series.add(key);
    own.samples.push({ name, labels, value: Number(value.replace("Inf", "Infinity")) });
  }
  for (const [name, { type, samples }] of families) {
    if (type === "") throw new Error(`HELP without TYPE: ${name}`);
    if (type === "counter") requireCounter(name, samples);
    if (type === "histogram") requireBuckets(name, samples);
  }
  return families;
}

function labelsOf(labels: string): string[] {
  return labels.match(new RegExp(LABEL, "g")) ?? [];
}

function requireCounter(name: string, samples: MetricFamily["samples"]): void {
  if (!name.endsWith("_total")) throw new Error(`a counter without _total: ${name}`);
  if (samples.some(({ value }) => !(value >= 0))) throw new Error(`a counter below 0: ${name}`);
}

/** The buckets of each series rise with their bounds up to `+Inf`, which counts as many as `_count`. */
function requireBuckets(family: string, samples: MetricFamily["samples"]): void {
  const series = new Map<string, { bound: number; count: number }[]>();
  const counts = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    const le = labelsOf(labels)
      .find((label) => label.startsWith("le="))
      ?.slice(4, -1);
    const rest = labelsOf(labels)
      .filter((label) => !label.startsWith("le="))
      .join();
    if (name === `${family}_count`) counts.set(labelsOf(labels).join(), value);
    if (name !== `${family}_bucket`) continue;
    const buckets = series.get(rest) ?? [];
    buckets.push({ bound: Number(String(le).replace("Inf", "Infinity")), count: value });
    series.set(rest, buckets);
  }
  if (series.size !== counts.size) throw new Error(`buckets without a count: ${family}`);
  for (const [labels, buckets] of series) {
    const rises = buckets.every(({ bound, count }, at) => {
      const { bound: low, count: fewer } = buckets[at - 1] ?? { bound: -Infinity, count: 0 };
      return bound > low && count >= fewer;
    });
    const last = buckets.at(-1);
    if (!rises || last?.bound !== Infinity || last.count !== counts.get(labels))
      throw new Error(`buckets that do not add up: ${family}{${labels}}`);
  }
}
