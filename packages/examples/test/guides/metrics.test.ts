import { readFileSync } from "node:fs";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { OutboxMetrics } from "@holdfast/outbox/prometheus";
import { MemoryStore } from "@holdfast/outbox/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";

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
  templating: { list: { name: string; query: string }[] };
};

const register = new Registry();
prometheusMetrics({ register });
const outbox = new OutboxMetrics({ store: new MemoryStore(), register });
outbox.onEvent({ type: "clock", ahead: 0, isTolerated: true }); // its metric begins with the first value
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

it.each(queries)(
  "the dashboard asks for series that exist: $title, $expr",
  ({ expr, legendFormat }) => {
    const asked =
      expr
        .match(/\b[a-z]+(?:_[a-z]+)+\b(?!\()/g)
        ?.filter((word) => word !== "histogram_quantile") ?? [];
    const metrics = asked.filter((word) => !word.startsWith("__"));
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !series.includes(name))).toEqual([]);
    const labels = metrics.flatMap((name) => kept(name.replace(/_bucket$/, "")).labelNames);
    const used = [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */)),
      ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label),
    ];
    expect(used.filter((label) => label !== "le" && !labels.includes(label))).toEqual([]);
  },
);

it("the dashboard imports into any Grafana: one data source variable, no panel over another", () => {
  expect(templating.list).toMatchObject([{ name: "datasource", query: "prometheus" }]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const [index, a] of panels.entries())
    for (const b of panels.slice(index + 1)) {
      const [p, q] = [a.gridPos, b.gridPos];
      const apart = p.x + p.w <= q.x || q.x + q.w <= p.x || p.y + p.h <= q.y || q.y + q.h <= p.y;
      expect(apart, `${a.title} and ${b.title}`).toBe(true);
      expect(p.x + p.w).toBeLessThanOrEqual(24);
    }
});
