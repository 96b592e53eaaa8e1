import { readFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { parseDuration } from "../../arguments.ts";

/** A manifest, and what of the other file has no counterpart in it. */
export interface Imported {
  readonly yaml: string;
  readonly left: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads a Procfile, or a process-compose.yaml if the text is YAML with `processes`. */
export function importFile(file: string): Imported {
  const text = readFileSync(file, "utf8");
  return /^processes:/m.test(text) ? fromProcessCompose(text) : fromProcfile(text);
}

/** Each line is `name: line of the shell`. All end when one ends, as with foreman. */
function fromProcfile(text: string): Imported {
  const left: string[] = [];
  const processes: Record<string, object> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, shell] = /^([\w.-]+):\s*(.+)$/.exec(line) ?? [];
    if (name !== undefined && shell !== undefined) processes[name] = { shell, exitOnEnd: true };
    else if (line.trim() !== "" && !line.startsWith("#")) left.push(`no process: ${line}`);
  }
  return { yaml: stringify({ processes }), left };
}

const RESTARTS: Readonly<Record<string, string>> = {
  always: "Always",
  on_failure: "OnFailure",
  exit_on_failure: "Never",
  no: "Never",
};
const CONDITIONS: Readonly<Record<string, string>> = {
  process_healthy: "ready",
  process_started: "started",
  process_completed: "completed",
  process_completed_successfully: "completed",
};

/** Reads a process-compose.yaml. Keys without a counterpart are named. */
function fromProcessCompose(text: string): Imported {
  const { processes: given = {}, ...others } = parse(text, { merge: true }) as {
    readonly processes?: Readonly<Record<string, Fields>>;
  };
  const left = Object.keys(others)
    .filter((key) => key !== "version")
    .map((key) => `${key} has no counterpart`);
  const processes = Object.fromEntries(
    Object.entries(given).map(([name, fields]) => {
      const report = (key: string): number =>
        left.push(`processes.${name}.${key} has no counterpart`);
      return [name, oneOf(fields, report)];
    }),
  );
  return { yaml: stringify({ processes }), left };
}

function oneOf(fields: Fields, report: (key: string) => void): object {
  const { availability = {}, shutdown = {}, depends_on: depends = {}, ...rest } = fields;
  const made: Record<string, unknown> = { restart: "Never" }; // The default of process-compose.
  for (const [key, value] of Object.entries(rest)) {
    if (key === "command") made["shell"] = value;
    else if (key === "working_dir") made["cwd"] = value;
    else if (key === "environment") made["env"] = environmentOf(value);
    else if (key === "disabled") made["disabled"] = value;
    else if (key === "readiness_probe")
      made["readiness"] = probeOf(value as Fields, "readiness", report);
    else if (key === "liveness_probe")
      made["liveness"] = probeOf(value as Fields, "liveness", report);
    else report(key);
  }
  for (const [key, value] of Object.entries(availability as Fields)) {
    if (key === "restart") made["restart"] = RESTARTS[String(value)] ?? "Never";
    else if (key === "max_restarts") made["maxRestarts"] = value;
    else if (key === "exit_on_end") made["exitOnEnd"] = value;
    else if (key === "backoff_seconds") made["backoff"] = { duration: `${value}s`, factor: 1 };
    else report(`availability.${key}`);
  }
  for (const [key, value] of Object.entries(shutdown as Fields)) {
    if (key === "timeout_seconds") made["grace"] = `${value}s`;
    else if (key === "signal" && SIGNALS[Number(value)])
      made["stopSignal"] = SIGNALS[Number(value)];
    else report(`shutdown.${key}`);
  }
  const dependsOn = Object.entries(depends as Fields).map(([name, condition]) => {
    const words = String((condition as Fields)["condition"] ?? "process_started");
    if (CONDITIONS[words] === undefined) report(`depends_on.${name}.condition`);
    return [name, CONDITIONS[words] ?? "started"];
  });
  if (dependsOn.length > 0) made["dependsOn"] = Object.fromEntries(dependsOn);
  return made;
}

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  9: "SIGKILL",
  10: "SIGUSR1",
  12: "SIGUSR2",
  15: "SIGTERM",
};

function environmentOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return Object.fromEntries(
    value.map((entry) => {
      const [name = "", ...rest] = String(entry).split("=");
      return [name, rest.join("=")];
    }),
  );
}

function probeOf(fields: Fields, kind: string, report: (key: string) => void): object {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (key === "http_get") {
      const { port, path = "/", ...others } = value as Fields;
      Object.assign(made, { http: Number(port), path });
      for (const other of Object.keys(others)) report(`${kind}_probe.http_get.${other}`);
    } else if (key === "exec") made["exec"] = (value as Fields)["command"];
    else if (key === "period_seconds") made["period"] = secondsOf(value);
    else if (key === "timeout_seconds") made["timeout"] = secondsOf(value);
    else if (key === "failure_threshold") made["failures"] = value;
    else report(`${kind}_probe.${key}`);
  }
  return made;
}

function secondsOf(value: unknown): string {
  const text = `${value}s`;
  return parseDuration(text) === undefined ? "1s" : text;
}
