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

type Rule = (value: unknown, report: (key: string) => void) => Fields;

/** What becomes of a key of process-compose. */
const RULES: Readonly<Record<string, Rule>> = {
  command: (shell) => ({ shell }),
  working_dir: (cwd) => ({ cwd }),
  environment: (value) => ({ env: environmentOf(value) }),
  disabled: (disabled) => ({ disabled }),
  readiness_probe: (value, report) => ({
    readiness: probeOf(value as Fields, "readiness", report),
  }),
  liveness_probe: (value, report) => ({ liveness: probeOf(value as Fields, "liveness", report) }),
  availability: (value, report) =>
    all(value as Fields, AVAILABILITY, (key) => report(`availability.${key}`)),
  shutdown: (value, report) => all(value as Fields, SHUTDOWN, (key) => report(`shutdown.${key}`)),
  depends_on: (value, report) => ({ dependsOn: conditionsOf(value as Fields, report) }),
};
const AVAILABILITY: Readonly<Record<string, Rule>> = {
  restart: (value) => ({ restart: RESTARTS[String(value)] ?? "Never" }),
  max_restarts: (maxRestarts) => ({ maxRestarts }),
  exit_on_end: (exitOnEnd) => ({ exitOnEnd }),
  backoff_seconds: (value) => ({ backoff: { duration: `${value}s`, factor: 1 } }),
};
const SHUTDOWN: Readonly<Record<string, Rule>> = {
  timeout_seconds: (value) => ({ grace: `${value}s` }),
  signal: (value) => ({ stopSignal: SIGNALS[Number(value)] ?? "SIGTERM" }),
};

function all(fields: Fields, rules: typeof RULES, report: (key: string) => void): Fields {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const rule = rules[key];
    if (rule === undefined) report(key);
    else Object.assign(made, rule(value, report));
  }
  return made;
}

/** `Never` is the default of process-compose. */
function oneOf(fields: Fields, report: (key: string) => void): object {
  return { restart: "Never", ...all(fields, RULES, report) };
}

function conditionsOf(depends: Fields, report: (key: string) => void): Fields {
  const entries = Object.entries(depends).map(([name, condition]) => {
    const words = String((condition as Fields)["condition"] ?? "process_started");
    if (CONDITIONS[words] === undefined) report(`depends_on.${name}.condition`);
    return [name, CONDITIONS[words] ?? "started"];
  });
  return Object.fromEntries(entries) as Fields;
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
