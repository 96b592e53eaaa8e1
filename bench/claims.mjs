import { figuresOf } from "./suites/outbox-due.mjs";
import { step } from "./suites/step.mjs";

const N = 100_000;
const M = 1_000_000;

/** The median over rounds of a contender's best sample; NaN where it was not measured. `reads` gets each. */
function finder(results, reads) {
  return (suite, kase, size, contender, figure) => {
    reads.push({ suite, case: kase, size, contender, figure });
    return (
      results.find(
        (r) => r.suite === suite && r.case === kase && r.size === size && r.contender === contender,
      )?.figures[figure]?.best ?? Number.NaN
    );
  };
}

/** Bytes and wall time are not. */
const isCpuTime = ({ figure }) => /(^|\s)[nµ]s\b/.test(figure) && !figure.includes("wall");

const ours = "Backoff.step()";
const stepRatio = (kase, size) => (of) =>
  of("a", kase, size, ours, "ns/delay") / of("a", kase, size, "bare loop, same rule", "ns/delay");
const rivalsOf = (kase) =>
  Object.keys(step.cases.find(({ id }) => id === kase).contenders).filter(
    (name) => name !== ours && !name.startsWith("bare"),
  );
const fastestRival = (kase) => (of) =>
  Math.min(
    ...rivalsOf(kase)
      .map((rival) => of("a", kase, 4_096, rival, "ns/delay"))
      .filter(Number.isFinite),
  ) / of("a", kase, 4_096, ours, "ns/delay");
/** Far apart: a collection of garbage doubles a sample of one process, a cost by the number of sleeps takes ten times. */
const growth = (contender) => (of) =>
  of("b", "shared", 100_000, contender, "create ns") /
  of("b", "shared", 10_000, contender, "create ns");
const ratio = (suite, kase, size, figure, theirs, mine) => (of) =>
  of(suite, kase, size, theirs, figure) / of(suite, kase, size, mine, figure);

const retryRatio = (theirs) => ratio("f", "retry", 20_000, "ns/attempt", theirs, "retry");
const RIVALS_OF_RETRY = ["p-retry", "cockatiel", "exponential-backoff", "effect"];

const RELAY = "outbox and relay";
const perSecond = (kase, size) => (of) => 1e6 / of("i", kase, size, RELAY, "wall µs/message");
const relayRatio = (kase, size) =>
  ratio("i", kase, size, "wall µs/message", RELAY, "bare loop, 10 at once");
/** How much slower a query is with a million rows that wait, or that were sent, than with 10,000. */
const dueGrowth =
  (query, kase, base = kase) =>
  (of) =>
    of("i", kase, M, "the store", query) / of("i", base, 10_000, "the store", query);
/** How much slower a query is with a million rows than with 100,000: the one that grows most. */
const shape = (kase) => (of) => {
  const at = (size, figure) => of("i", kase, size, "the store", figure);
  return Math.max(...figuresOf(kase.split(" ")[0]).map((figure) => at(M, figure) / at(N, figure)));
};
const SHAPES = [
  ["due", "1M messages wait, PostgreSQL"],
  ["due MariaDB", "1M messages wait, MariaDB"],
  ["hung", "1M messages of another topic are due, PostgreSQL"],
  ["hung MariaDB", "1M messages of another topic are due, MariaDB"],
  ["keys", "1M messages are due, 1,000 a key, PostgreSQL"],
  ["keys MariaDB", "1M messages are due, 1,000 a key, MariaDB"],
];
const CLAIM_DUE = "claim, wall µs";
const NEXT_DUE = "nextDue, wall µs";

const wholeDelayed = (of, contender) =>
  ["add ns", "due ns", "drain ns"]
    .map((figure) => of("e", "delayed", M, contender, figure))
    .reduce((sum, figure) => sum + figure);
const clientGoDelayed = (says, figure) => ({
  says: `1M delayed keys: ${says}, in the same run, GOMAXPROCS=1`,
  least: 1,
  value: ratio("e", "delayed", M, figure, "client-go", "WorkQueue on FakeClock"),
});

const BARE = "bare node:https";
const webhookRatio = (contender, base = BARE) =>
  ratio("o", "calls", 2_000, "cpu ns/call", contender, base);

/**
 * The promises about speed, each a ratio of this run. Only those that `gates` fail the run: the others
 * are reported, and one that is missed is a question for an ADR. Absolute times depend on the machine,
 * so they are stated and never judged.
 */
const claims = [
  {
    says: "a call of a validating webhook costs at most 1.3 of bare node:https",
    most: 1.3,
    value: webhookRatio("validating"),
  },
  {
    says: "a call of a mutating webhook costs at most 2.2 of bare node:https",
    most: 2.2,
    value: webhookRatio("mutating"),
  },
  {
    says: "a conversion of an object costs at most 1.8 of bare node:https",
    most: 1.8,
    value: webhookRatio("conversion", `${BARE}, a conversion`),
  },
  {
    says: "step() with jitter costs at most 1.15 bare loops, walks of 16",
    most: 1.15,
    value: stepRatio("jittered", 4_096),
  },
  {
    says: "step() without jitter costs at most 1.15 bare loops, walks of 16",
    most: 1.15,
    value: stepRatio("plain", 4_096),
  },
  {
    says: "step() with jitter costs at most 1.15 bare loops, runs of 4,096",
    most: 1.15,
    value: stepRatio("jittered, long", 16),
  },
  {
    says: "step() without jitter costs at most 1.15 bare loops, runs of 4,096",
    most: 1.15,
    value: stepRatio("plain, long", 16),
  },
  {
    says: "the fastest rival's jittered delay costs more than step()",
    least: 1,
    value: fastestRival("jittered"),
  },
  {
    says: "the fastest rival's plain delay costs more than step()",
    least: 1,
    value: fastestRival("plain"),
  },
  {
    says: "sleeps on one signal are linear: one of 100k costs at most 3 of one of 10k, realClock",
    gates: true,
    most: 3,
    value: growth("realClock.sleep"),
  },
  {
    says: "sleeps on one signal are linear: one of 100k costs at most 3 of one of 10k, FakeClock",
    gates: true,
    most: 3,
    value: growth("FakeClock.sleep"),
  },
  {
    says: "40k sleeps on one signal are 30 times cheaper than node:timers/promises",
    least: 30,
    value: ratio("b", "shared", 40_000, "create ns", "node:timers/promises", "realClock.sleep"),
  },
  {
    says: "bytes that a sleep on the real clock occupies (stated)",
    value: (of) => of("b", "shared", N, "realClock.sleep", "bytes"),
  },
  {
    says: "a chain of sleeps: the burst drain is 5 times as fast as sinon's runAllAsync",
    least: 5,
    value: ratio("c", "chain", 20_000, "ns/sleep", "sinon, runAllAsync", "FakeClock.run, turns: 0"),
  },
  {
    says: "a chain of sleeps: the default drain costs at most 1.2 runAllAsync",
    most: 1.2,
    value: ratio(
      "c",
      "chain",
      20_000,
      "ns/sleep",
      "FakeClock.run, turns: 1 (default)",
      "sinon, runAllAsync",
    ),
  },
  {
    says: "100k random timers without callbacks: stepSync is 4 times as fast as sinon's tick",
    least: 4,
    value: ratio("c", "random", N, "fire ns", "sinon, tick", "FakeClock, stepSync, no callbacks"),
  },
  {
    says: "100k random timers cost at most 4 times as much each as 10k, armed and fired",
    most: 4,
    value: (of) =>
      of("c", "random", N, "FakeClock, stepSync", "both ns") /
      of("c", "random", 10_000, "FakeClock, stepSync", "both ns"),
  },
  {
    says: "100k random callbacks that keep their context on both sides, armed and fired: 4 times",
    least: 4,
    value: ratio(
      "c",
      "random",
      N,
      "both ns",
      "sinon, tick, contexts kept by hand",
      "FakeClock, stepSync",
    ),
  },
  {
    says: "the same, fired (stated)",
    value: ratio(
      "c",
      "random",
      N,
      "fire ns",
      "sinon, tick, contexts kept by hand",
      "FakeClock, stepSync",
    ),
  },
  {
    says: "the same, fired, where sinon's lose their context (stated)",
    value: ratio("c", "random", N, "fire ns", "sinon, tick", "FakeClock, stepSync"),
  },
  {
    says: "a step with 100k timers pending and none due is 1,000 times as fast as sinon's",
    least: 1_000,
    value: ratio("c", "idle", N, "ns/step", "sinon, tick(1)", "FakeClock, stepSync(1)"),
  },
  {
    says: "bytes per fake timer (stated)",
    value: (of) => of("c", "idle", N, "FakeClock, stepSync(1)", "bytes/timer"),
  },
  {
    says: "bytes per fake sleep, its promise included (stated)",
    value: (of) => of("c", "idle", N, "FakeClock, the timers are sleeps", "bytes/timer"),
  },
  {
    says: "ns that an item costs, 1k keys in turn (stated)",
    value: (of) => of("e", "cycle", 1_000, "WorkQueue, take", "ns/item"),
  },
  {
    says: "client-go's item costs at least one of ours in the same run, GOMAXPROCS=1",
    least: 1,
    value: ratio("e", "cycle", 1_000, "ns/item", "client-go", "WorkQueue, take"),
  },
  {
    says: "an item costs at most 2 of a bare Map and ring, 1k keys in turn",
    most: 2,
    value: ratio("e", "cycle", 1_000, "ns/item", "WorkQueue, take", "bare Map and ring"),
  },
  {
    says: "p-queue's item costs so many awaited ones (stated)",
    value: ratio("e", "cycle", 1_000, "ns/item", "p-queue", "WorkQueue, await get"),
  },
  {
    says: "p-queue's item costs at least 10 of a WorkQueue's",
    least: 10,
    value: ratio("e", "cycle", 1_000, "ns/item", "p-queue", "WorkQueue, take"),
  },
  {
    says: "100k keys in turn cost at most 1.5 times what 1k do, per item",
    most: 1.5,
    value: (of) =>
      of("e", "cycle", 100_000, "WorkQueue, take", "ns/item") /
      of("e", "cycle", 1_000, "WorkQueue, take", "ns/item"),
  },
  {
    says: "a Controller that does nothing costs at most 2 of its bare queue per item, 1 worker",
    most: 2,
    value: ratio("e", "loop", 1, "ns/item", "Controller", "WorkQueue, await get"),
  },
  {
    says: "p-queue with a Map costs at least 2 of a Controller per item, 1 worker",
    least: 2,
    value: ratio("e", "loop", 1, "ns/item", "p-queue and a Map", "Controller"),
  },
  {
    says: "p-queue with a Map costs at least 2 of a Controller per item, 8 workers",
    least: 2,
    value: ratio("e", "loop", 8, "ns/item", "p-queue and a Map", "Controller"),
  },
  {
    says: "ns that an item costs, 1M keys queued (stated)",
    value: (of) => of("e", "steady", M, "WorkQueue, take", "ns/item"),
  },
  {
    says: "bytes that a delayed key occupies beside itself (stated; Go: 95)",
    value: (of) => of("e", "delayed", M, "WorkQueue on FakeClock", "bytes"),
  },
  {
    says: "ns that adding a delayed key costs, 1M of them (stated)",
    value: (of) => of("e", "delayed", M, "WorkQueue on FakeClock", "add ns"),
  },
  {
    says: "adding a delayed key costs at most 1.75 of a bare Map of records, 1M of them",
    most: 1.75,
    value: ratio(
      "e",
      "delayed",
      M,
      "add ns",
      "WorkQueue on FakeClock",
      "bare Map of records, no order",
    ),
  },
  clientGoDelayed("adding one costs client-go at least as much", "add ns"),
  {
    says: "the same, where client-go's keys are ints and ours strings (stated)",
    value: ratio("e", "delayed", M, "add ns", "client-go, keys are ints", "WorkQueue on FakeClock"),
  },
  clientGoDelayed("becoming due costs client-go at least as much", "due ns"),
  {
    says: "client-go's added, due, handed out and done cost at least one of ours, in the same run",
    least: 1,
    value: (of) => wholeDelayed(of, "client-go") / wholeDelayed(of, "WorkQueue on FakeClock"),
  },
  {
    says: "ns that becoming due costs, 1M at random times (stated)",
    value: (of) => of("e", "delayed", M, "WorkQueue on FakeClock", "due ns"),
  },
  {
    says: "ns that a delayed key costs in all, 1M of them (stated)",
    value: (of) => wholeDelayed(of, "WorkQueue on FakeClock"),
  },
  {
    says: "bytes per queued key beside itself (stated; Go: 74)",
    value: (of) => of("e", "held", M, "WorkQueue, queued", "bytes/key"),
  },
  {
    says: "bytes per failing key beside itself (stated; Go: 56)",
    value: (of) => of("e", "held", M, "ExponentialLimiter, failing", "bytes/key"),
  },
  {
    says: "a failed attempt of retry costs at most 1.25 of a bare loop that a signal ends",
    gates: true,
    most: 1.25,
    value: ratio(
      "f",
      "retry",
      20_000,
      "ns/attempt",
      "retry",
      "bare loop, sleep that a signal ends",
    ),
  },
  {
    says: "the same, of one that nothing ends (stated)",
    value: ratio("f", "retry", 20_000, "ns/attempt", "retry", "bare loop, sleep"),
  },
  ...RIVALS_OF_RETRY.map((rival) => ({
    says: `an attempt that fails costs ${rival} more than retry`,
    least: 1,
    value: retryRatio(rival),
  })),
  {
    says: "async-retry's costs so many of retry's (stated)",
    value: retryRatio("async-retry"),
  },
  {
    says: "retry keeps less than one byte of an attempt, over a million of them",
    most: 1,
    value: (of) => of("f", "bytes", 1_000_000, "retry", "kept bytes/attempt"),
  },
  {
    says: "bytes that a failed attempt of retry allocates (stated)",
    value: (of) => of("f", "bytes", 1_000_000, "retry", "bytes/attempt"),
  },
  {
    says: "p-wait-for's no costs so many of poll's (stated)",
    value: ratio("f", "poll", 20_000, "ns/poll", "p-wait-for", "poll"),
  },
  {
    says: "the same, both with a time limit (stated)",
    value: ratio("f", "poll", 20_000, "ns/poll", "p-wait-for, timeout", "poll, timeout"),
  },
  {
    says: "bytes that retry adds to a program that has the clock, gzipped (stated)",
    value: (of) => of("h", "gzip", 1, "retry", "added to the clock"),
  },
  {
    says: "bytes of retry without the clock, gzipped (stated)",
    value: (of) => of("h", "gzip", 1, "retry", "without the clock"),
  },
  {
    says: "import { retry } with the clock, gzipped (stated)",
    value: (of) => of("h", "gzip", 1, "retry", "gzipped"),
  },
  {
    says: "messages saved, sent and marked per second, PGlite in the process (stated)",
    value: perSecond("embedded", 500),
  },
  {
    says: "the outbox costs so many bare loops of 10, PGlite (stated)",
    value: relayRatio("embedded", 500),
  },
  {
    says: "messages saved, sent and marked per second, a PostgreSQL server (stated)",
    value: perSecond("server", 1_000),
  },
  {
    says: "the outbox costs so many bare loops of 10, a PostgreSQL server (stated)",
    value: relayRatio("server", 1_000),
  },
  {
    says: "1M messages wait: claiming 10 due ones costs at most 1.5 times what it does with 10k",
    most: 1.5,
    value: dueGrowth(CLAIM_DUE, "due"),
  },
  { says: "the same, when the next is due", most: 1.5, value: dueGrowth(NEXT_DUE, "due") },
  {
    says: "1M messages wait in PGlite: claiming 10 costs at most 1.5 times what it does with 10k",
    most: 1.5,
    value: dueGrowth(CLAIM_DUE, "due embedded"),
  },
  { says: "the same, when the next is due", most: 1.5, value: dueGrowth(NEXT_DUE, "due embedded") },
  {
    says: "1M messages were sent before: claiming 10 costs at most 1.5 times what it does without",
    most: 1.5,
    value: dueGrowth(CLAIM_DUE, "sent", "due"),
  },
  {
    says: "the same, when the next is due",
    most: 1.5,
    value: dueGrowth(NEXT_DUE, "sent", "due"),
  },
  {
    says: "1M messages wait in MariaDB: claiming 10 costs at most 1.5 times what it does with 10k",
    most: 1.5,
    value: dueGrowth(CLAIM_DUE, "due MariaDB"),
  },
  { says: "the same, when the next is due", most: 1.5, value: dueGrowth(NEXT_DUE, "due MariaDB") },
  {
    says: "1M messages were sent before, MariaDB: claiming 10 costs at most 1.5 times as much",
    most: 1.5,
    value: dueGrowth(CLAIM_DUE, "sent MariaDB", "due MariaDB"),
  },
  {
    says: "the same, when the next is due",
    most: 1.5,
    value: dueGrowth(NEXT_DUE, "sent MariaDB", "due MariaDB"),
  },
  ...SHAPES.map(([kase, says]) => ({
    says: `${says}: no query costs more than 1.5 times what it does with 100k`,
    most: 1.5,
    value: shape(kase),
  })),
  ...[
    ["time", "wall µs/message"],
    ["CPU of the process", "CPU µs, process"],
    ["CPU of the server", "CPU µs, server"],
  ].map(([says, figure]) => ({
    says: `graphile-worker takes at least the outbox's ${says} per posted message`,
    least: 1,
    value: ratio("l", "post", 5_000, figure, "graphile-worker", "@holdfast/outbox"),
  })),
  {
    says: "the same time, while 1M retries of each wait: at least 2.0",
    least: 2,
    value: ratio(
      "l",
      "post, retries wait",
      5_000,
      "wall µs/message",
      "graphile-worker",
      "@holdfast/outbox",
    ),
  },
  ...[
    ["pg-boss", "pg-boss"],
    ["graphile-worker with its local queue", "graphile-worker, local queue"],
  ].map(([says, rival]) => ({
    says: `${says}: its time per posted message, in units of the outbox's (stated)`,
    value: ratio("l", "post", 5_000, "wall µs/message", rival, "@holdfast/outbox"),
  })),
  ...[
    ["CPU to a synced cache of 50,000 Pods", "cpu µs/object", 0.8],
    ["heap per cached Pod", "heap B/object", 0.6],
    ["RSS per Pod when synced", "RSS B/object", 0.5],
    ["the longest block of the event loop meanwhile", "longest block ms", 0.1],
  ].map(([says, figure, most]) => ({
    says: `${says}: at most ${most} of client-node's informer`,
    most,
    value: ratio("k", "sync", 50_000, figure, "Cluster", "client-node informer"),
  })),
  {
    says: "events from bytes to the cache cost at most 1.25 of a bare JSON.parse",
    most: 1.25,
    value: ratio("k", "events", N, "cpu µs/event", "Cluster", "bare JSON.parse"),
  },
  ...[
    ["a GET over HTTP", "get", 10_000, "cpu µs/GET", "recorded", 1.25],
    ["the same with 1,000 Secrets", "get", 10_000, "cpu µs/GET", "recorded, 1,000 Secrets", 2],
    ["an event", "events", 50_000, "cpu µs/event", "recorded", 1.5],
  ].map(([says, kase, size, figure, recorded, most]) => ({
    says: `${says} costs a recorded operator at most ${most} of one that is not recorded`,
    most,
    value: ratio("p", kase, size, figure, recorded, "not recorded"),
  })),
  ...[
    [1, 0.9],
    [2, 1.8],
    [4, 3.5],
  ].map(([processes, least]) => {
    const sharded = `slots, ${processes} process${processes === 1 ? "" : "es"}`;
    return {
      says: `reconciles that wait 20 ms: ${sharded}, do at least ${least} times as many as one leader`,
      least,
      value: ratio("m", "shards", 2_000, "reconciles/s, wall", sharded, "one leader"),
    };
  }),
];

/**
 * Each claim and its verdict, with the figures that it `reads`. One about CPU, `isCpu`, has a limit, and reads nothing
 * else than CPU time.
 */
export function judge(results) {
  return claims.map(({ says, gates = false, most, least, value }) => {
    const reads = [];
    const measured = value(finder(results, reads));
    const isJudged = most !== undefined || least !== undefined;
    const isCpu = isJudged && reads.every(isCpuTime);
    return {
      says,
      gates,
      most,
      least,
      measured,
      verdict: verdict(measured, most, least),
      isCpu,
      reads,
    };
  });
}

function verdict(measured, most, least) {
  if (!Number.isFinite(measured)) return "not measured";
  if (most === undefined && least === undefined) return "stated";
  return measured <= (most ?? Infinity) && measured >= (least ?? -Infinity) ? "met" : "missed";
}
