import { readFileSync } from "node:fs";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { OutboxMetrics } from "@holdfast/outbox/prometheus";
import { MemoryStore } from "@holdfast/outbox/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { parse } from "yaml";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { x: number; y: number; w: number; h: number };
  readonly targets?: readonly { expr: string; legendFormat: string }[];
}

/** A metric as prom-client keeps it. */
interface Kept {
  readonly type: string;
  readonly labelNames: readonly string[];
}

const read = (name: string): string =>
  readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8");
const { panels, templating } = JSON.parse(read("grafana-dashboard.json")) as {
  panels: Panel[];
  templating: { list: { name: string; query: unknown }[] };
};
const { spec } = parse(read("prometheus-rule.yaml")) as {
  spec: {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
  };
};
const rules = spec.groups.flatMap(({ rules }) => rules);

const register = new Registry();
prometheusMetrics({ register });
const store = Object.assign(new MemoryStore(), { restriction: async () => undefined });
new OutboxMetrics({ store, register });
const names = register.getMetricsAsArray().map(({ name }) => name);
const kept = (name: string) => register.getSingleMetric(name) as unknown as Kept;

/** The series that Prometheus scrapes: a histogram has three. */
const series = names.flatMap((name) =>
  kept(name).type === "histogram" ? ["_bucket", "_count", "_sum"].map((end) => name + end) : [name],
);
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ title, ...target })),
);

it("the guide lists each metric of the packages, and no other", () => {
  const rows = [...read("metrics.md").matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual([...names].sort());
});

/** Labels that Prometheus adds to what it scrapes. */
const TARGET_LABELS = ["job", "namespace", "instance"];

/** The metrics of an expression, which exist, and so do the labels in it and in a text about its result. */
function metricsIn(expr: string, text: string): string[] {
  const metrics = [...expr.matchAll(/(?<!\$)\b[a-z]+(?:_[a-z]+)+\b(?! ?\()/g)].map(
    ([name]) => name,
  );
  expect(metrics.length).toBeGreaterThan(0);
  expect(metrics.filter((name) => !series.includes(name))).toEqual([]);
  const labels = metrics.flatMap((name) => kept(name.replace(/_bucket$/, "")).labelNames);
  const used = [
    ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */)),
    ...[...expr.matchAll(/(\w+)=~?"/g)].map(([, label = ""]) => label),
    ...[...text.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label = ""]) => label),
  ];
  const known = [...TARGET_LABELS, "le", ...labels];
  expect(used.filter((label) => !known.includes(label))).toEqual([]);
  return metrics;
}

it.each(queries)(
  "the dashboard asks for series that exist, of the chosen jobs: $title, $expr",
  ({ expr, legendFormat }) => {
    const metrics = metricsIn(expr.replaceAll("$__rate_interval", "5m"), legendFormat);
    const chosen = expr.split('{job=~"$job",namespace=~"$namespace"').length - 1;
    expect(chosen).toBe(metrics.length);
  },
);

it.each(rules)("the alert asks for series that exist: $alert", ({ expr, annotations }) => {
  metricsIn(expr, annotations.summary);
});

it("the rules have each alert of the guides, and no other", () => {
  const guides = ["operating-an-operator.md", "several-replicas.md", "outbox.md"].map(read);
  const conditions = guides.flatMap((guide) =>
    [...guide.matchAll(/^\| Alert.*\n\|[-| ]*\n((?:\|.*\n)*)/gm)].flatMap(([, rows = ""]) =>
      rows
        .trim()
        .split("\n")
        .map((row) => row.replaceAll("\\|", "¦").split("|")[2] ?? ""),
    ),
  );
  const metric = (text: string): string =>
    /[a-z]+(?:_[a-z]+)+(?:\{[^}]*\})?/.exec(
      text.replace(/\w+_(?:over_time|quantile)/, "").replaceAll("¦", "|"),
    )?.[0] ?? text;
  const sorted = (texts: string[]) => texts.map(metric).sort();
  expect(sorted(rules.map(({ expr }) => expr))).toEqual(sorted(conditions));
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

it("the dashboard imports into any Grafana: its variables, no panel over another", () => {
  expect(templating.list.map(({ name }) => name)).toEqual(["datasource", "job", "namespace"]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const [index, a] of panels.entries())
    for (const b of panels.slice(index + 1)) {
      const [p, q] = [a.gridPos, b.gridPos];
      const apart = p.x + p.w <= q.x || q.x + q.w <= p.x || p.y + p.h <= q.y || q.y + q.h <= p.y;
      expect(apart, `${a.title} and ${b.title}`).toBe(true);
      expect(p.x + p.w).toBeLessThanOrEqual(24);
    }
});
