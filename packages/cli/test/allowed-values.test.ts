import { realClock } from "@holdfast/clock";
import { expect, it } from "vitest";
import { proxiesOf } from "../src/proxy.ts";
import { retryParser } from "../src/retry-options.ts";
import { createTarget } from "../src/target.ts";

const retry = (option: string) => (value: string) =>
  retryParser()
    .configureOutput({ writeErr: () => {} })
    .parse([option, value], { from: "user" });
const target = (text: string) =>
  createTarget(text, {
    ...{ clock: realClock, not: false, onProblem: () => {} },
    ...{ method: "GET", statuses: [[200, 399]], headers: {}, follow: false },
  } as never);
const proxy = (value: string) => proxiesOf({ HTTP_PROXY: value });

const DURATIONS = { "0 or": "0", "a duration": "2s", "500ms": "500ms", "1m30s": "1m30s" };
const OUTCOMES = { "exit codes": "3", timeout: "timeout", signals: "SIGHUP", SIGKILL: "SIGKILL" };

/** A value that is refused, and the forms that the message names, each with a value that is accepted. */
it.each<[string, (value: string) => unknown, string, Readonly<Record<string, string>>]>([
  ["--attempts", retry("--attempts"), "many", { inf: "inf", "a whole number": "3" }],
  ["--delay", retry("--delay"), "soon", DURATIONS],
  ["--delays", retry("--delays"), "1s,soon", DURATIONS],
  ["--timeout", retry("--timeout"), "soon", DURATIONS],
  ["--deadline", retry("--deadline"), "soon", DURATIONS],
  [
    "--jitter",
    retry("--jitter"),
    "half",
    { full: "full", equal: "equal", none: "none", "0.1": "0.1", "a factor": "2" },
  ],
  ["--on", retry("--on"), "SIGNOPE", OUTCOMES],
  ["--not-on", retry("--not-on"), "-1", OUTCOMES],
  [
    "a target",
    target,
    "udp:53",
    {
      ...{ "tcp:5432": "tcp:5432", "tcp:HOST:PORT": "tcp:db:5432" },
      ...{ "http://HOST": "http://db", "https://HOST": "https://db" },
      ...{ "unix:PATH": "unix:/a", "file:PATH": "file:/a", "dns:NAME": "dns:db" },
      "exec:LINE": "exec:true",
    },
  ],
  [
    "a proxy",
    proxy,
    "socks://db",
    {
      ...{ "expected HOST:PORT": "db:1", "http://HOST:PORT": "http://db:1" },
      "https://HOST:PORT": "https://db:1",
    },
  ],
])("the message of %s names each form that it takes", (_, parse, bad, forms) => {
  expect(() => parse(bad)).toThrow();
  for (const [form, value] of Object.entries(forms)) {
    expect(() => parse(bad)).toThrow(form);
    expect(() => parse(value)).not.toThrow();
  }
});
