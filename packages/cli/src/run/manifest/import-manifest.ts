import { Document, Scalar, visit } from "yaml";
import { parseDuration } from "../../arguments.ts";
import { UNPRINTABLE } from "../../printable.ts";
import { readYaml } from "./read-yaml.ts";

/** A manifest, and what of the other file has no counterpart in it. */
export interface Imported {
  readonly yaml: string;
  readonly left: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a Procfile, or a process-compose.yaml if the text is YAML with `processes`.
 *
 * @throws Error that names the first mistake of the YAML
 */
export function importManifest(text: string): Imported {
  return /^processes:/m.test(text) ? fromProcessCompose(text) : fromProcfile(text);
}

/** A manifest of these processes. What a terminal does not show as it is stands in it as an escape code of YAML. */
function yamlOf(processes: Iterable<readonly [name: string, fields: object]>): string {
  // Not `__proto__: …` in a literal: a name may be any word.
  const document = new Document({ processes: Object.fromEntries(processes) });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && node.value.search(UNPRINTABLE) >= 0)
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document
    .toString()
    .replaceAll(UNPRINTABLE, (character) =>
      character === "\n"
        ? character
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}

/** Each line is `name: line of the shell`. All end when one ends, as with foreman. */
function fromProcfile(text: string): Imported {
  const left: string[] = [];
  const processes = new Map<string, object>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, shell] = /^([\w.-]+):\s*(.+)$/.exec(line) ?? [];
    if (name !== undefined && shell !== undefined) processes.set(name, { shell, exitOnEnd: true });
    else if (line.trim() !== "" && !line.startsWith("#")) left.push(`no process: ${line}`);
  }
  return { yaml: yamlOf(processes), left };
}

// Maps: a key of the file may be the name of a method of all objects.

const RESTARTS: ReadonlyMap<string, string> = new Map([
  ["always", "Always"],
  ["on_failure", "OnFailure"],
  ["exit_on_failure", "Never"],
  ["no", "Never"],
]);
const CONDITIONS: ReadonlyMap<string, string> = new Map([
  ["process_healthy", "ready"],
  ["process_started", "started"],
  ["process_completed", "completed"],
  ["process_completed_successfully", "completed"],
]);

/** Reads a process-compose.yaml. Keys without a counterpart are named. */
function fromProcessCompose(text: string): Imported {
  const { flaws, counter, value } = readYaml(text);
  const [flaw] = flaws;
  if (flaw !== undefined) throw new Error(`${counter.linePos(flaw.offset).line}: ${flaw.message}`);
  const left: string[] = [];
  const { processes: given, ...others } = fieldsOf(value());
  for (const key of Object.keys(others))
    if (key !== "version") left.push(`${key} has no counterpart`);
  const processes = Object.entries(fieldsOf(given)).map(([name, fields]) => {
    const report = (key: string): number =>
      left.push(`processes.${name}.${key} has no counterpart`);
    // `Never` is the default of process-compose.
    return [name, { restart: "Never", ...all(fields, RULES, report) }] as const;
  });
  return { yaml: yamlOf(processes), left };
}

/** The fields of a mapping; none of anything else. */
function fieldsOf(value: unknown): Fields {
  const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
  return isMapping ? (value as Fields) : {};
}

type Rule = (value: unknown, report: (key: string) => void) => Fields;

type Rules = ReadonlyMap<string, Rule>;

/** What becomes of a key of process-compose. */
const RULES: Rules = new Map<string, Rule>([
  ["command", (shell) => ({ shell })],
  ["working_dir", (cwd) => ({ cwd })],
  ["environment", (value) => ({ env: environmentOf(value) })],
  ["disabled", (disabled) => ({ disabled })],
  ["readiness_probe", (value, report) => ({ readiness: probeOf(value, "readiness", report) })],
  ["liveness_probe", (value, report) => ({ liveness: probeOf(value, "liveness", report) })],
  ["availability", (value, report) => all(value, AVAILABILITY, under("availability", report))],
  ["shutdown", (value, report) => all(value, SHUTDOWN, under("shutdown", report))],
  ["depends_on", (value, report) => ({ dependsOn: conditionsOf(value, report) })],
]);
const AVAILABILITY: Rules = new Map<string, Rule>([
  ["restart", (value) => ({ restart: RESTARTS.get(String(value)) ?? "Never" })],
  ["max_restarts", (maxRestarts) => ({ maxRestarts })],
  ["exit_on_end", (exitOnEnd) => ({ exitOnEnd })],
  ["backoff_seconds", (value) => ({ backoff: { duration: `${value}s`, factor: 1 } })],
]);
const SHUTDOWN: Rules = new Map<string, Rule>([
  ["timeout_seconds", (value) => ({ grace: `${value}s` })],
  ["signal", (value) => ({ stopSignal: SIGNALS.get(Number(value)) ?? "SIGTERM" })],
]);

function under(parent: string, report: (key: string) => void): (key: string) => void {
  return (key) => report(`${parent}.${key}`);
}

function all(value: unknown, rules: Rules, report: (key: string) => void): Fields {
  const made: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fieldsOf(value))) {
    const rule = rules.get(key);
    if (rule === undefined) report(key);
    else Object.assign(made, rule(field, report));
  }
  return made;
}

function conditionsOf(depends: unknown, report: (key: string) => void): Fields {
  const entries = Object.entries(fieldsOf(depends)).map(([name, value]) => {
    const { condition = "process_started" } = fieldsOf(value);
    const known = CONDITIONS.get(String(condition));
    if (known === undefined) report(`depends_on.${name}.condition`);
    return [name, known ?? "started"];
  });
  return Object.fromEntries(entries) as Fields;
}

const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [9, "SIGKILL"],
  [10, "SIGUSR1"],
  [12, "SIGUSR2"],
  [15, "SIGTERM"],
]);

function environmentOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return Object.fromEntries(
    value.map((entry) => {
      const [name = "", ...rest] = String(entry).split("=");
      return [name, rest.join("=")];
    }),
  );
}

function probeOf(probe: unknown, kind: string, report: (key: string) => void): object {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fieldsOf(probe))) {
    if (key === "http_get") {
      const { port, path = "/", ...others } = fieldsOf(value);
      Object.assign(made, { http: Number(port), path });
      for (const other of Object.keys(others)) report(`${kind}_probe.http_get.${other}`);
    } else if (key === "exec") made["exec"] = fieldsOf(value)["command"];
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
