import type { FakeRequest, Fault } from "@holdfast/fake-apiserver";
import type { Random } from "@holdfast/wait";

/** One of several values. */
export function pick<Value>(random: Random, ...values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value;
}

/** What goes wrong with any request. */
const ANY: readonly ((random: Random) => Fault)[] = [
  (random) => ({ type: "status", status: pick(random, 401, 403, 500, 502, 504) }),
  (random) => ({ type: "status", status: pick(random, 429, 503), retryAfter: pick(random, 1, 5) }),
  (random) => ({ type: "status", status: pick(random, 429, 503) }),
  (random) => ({ type: "text", text: "<html>", status: pick(random, 200, 502) }),
  () => ({ type: "reject" }),
  () => ({ type: "reset" }),
  (random) => ({ type: "reset", after: { bytes: 1 + Math.floor(random() * 300) } }),
  (random) => ({ type: "close", after: { bytes: Math.floor(random() * 300) } }),
  (random) => ({ type: "stall", after: { bytes: Math.floor(random() * 300) } }),
  () => ({ type: "stall" }),
  () => ({ type: "drop" }),
  (random) => ({ type: "delay", delay: random() * 8_000 }),
];

/** What goes wrong with a watch: it ends or is silent after some events, or carries garbage. */
const WATCH: typeof ANY = [
  ...ANY,
  () => ({ type: "status", status: 410 }),
  () => ({ type: "close" }),
  (random) => ({
    type: pick(random, "reset", "close", "stall"),
    after: { lines: Math.floor(random() * 4) },
  }),
  (random) => ({
    type: "line",
    text: pick(random, "<html>", "{}", '{"type":"MODIFIED","object":{}}'),
    after: { lines: Math.floor(random() * 3) },
  }),
];

/** A fault that an API server, or a proxy before it, may make of a request. */
export function randomFault(random: Random, { verb, resource }: FakeRequest): Fault {
  if (verb === "watch") return pick(random, ...WATCH)(random);
  const isContested = (verb === "update" || verb === "patch") && random() < 0.2;
  if (isContested && resource !== undefined) return { type: "status", status: 409 };
  return pick(random, ...ANY)(random);
}
