import type { ProcessSnapshot, Snapshot } from "./snapshot.ts";

const METRICS: readonly {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly value: (process: ProcessSnapshot) => number | undefined;
}[] = [
  {
    name: "holdfast_process_running",
    type: "gauge",
    help: "Whether the process runs",
    value: ({ pid }) => (pid === undefined ? 0 : 1),
  },
  {
    name: "holdfast_process_ready",
    type: "gauge",
    help: "Whether the readiness check of the process succeeds",
    value: ({ ready }) => (ready === undefined ? undefined : Number(ready)),
  },
  {
    name: "holdfast_process_restarts_total",
    type: "counter",
    help: "Restarts of the process",
    value: ({ restarts }) => restarts,
  },
  {
    name: "holdfast_process_failed",
    type: "gauge",
    help: "Whether the process has failed and is not started again",
    value: ({ phase }) => Number(phase === "Failed"),
  },
];

/** Metrics of all processes, in the text format of Prometheus. */
export function metricsOf({ processes }: Snapshot): string {
  return METRICS.map(({ name, type, help, value }) => {
    const samples = processes.flatMap((process) => {
      const now = value(process);
      return now === undefined ? [] : [`${name}{process="${process.name}"} ${now}\n`];
    });
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join("")}`;
  }).join("");
}
