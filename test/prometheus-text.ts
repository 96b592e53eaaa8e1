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
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`);
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
 * metric, its samples in one group, no series twice.
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
    const key = `${name}{${labels
      .split(/,(?=[a-zA-Z_])/)
      .sort()
      .join()}}`;
    if (series.has(key)) refuse("a series twice");
    series.add(key);
    own.samples.push({ name, labels, value: Number(value.replace("Inf", "Infinity")) });
  }
  return families;
}
