import { ESLint, type Linter } from "eslint";
import { describe, expect, it } from "vitest";

// Nothing in the fixtures exists on disk, so the rules that need types stay out.
const eslint = new ESLint({
  overrideConfig: { languageOptions: { parserOptions: { projectService: false } } },
  ruleFilter: ({ ruleId }) => !ruleId.startsWith("@typescript-eslint/"),
});

async function lint(path: string, code: string): Promise<Linter.LintMessage[]> {
  const [result] = await eslint.lintText(code, { filePath: path });
  return result?.messages ?? [];
}

/** Code that breaks one law, where it breaks it, and a piece of what the report advises. */
type Breach = [code: string, path: string, advice: string];

const clock = "packages/clock/src/sleep.ts";
const wait = "packages/wait/src/poll/poll.ts";
const controller = "packages/controller/src/queue/waiting.ts";
const outbox = "packages/outbox/src/relay/relay.ts";
const kubernetes = "packages/kubernetes/src/client/kube-client.ts";
const example = "packages/examples/src/outbox/main.ts";

const breaches: Record<string, Breach[]> = {
  "law/time-is-an-argument": [
    ["setTimeout(run, 1)", wait, "clock.sleep"],
    ["setTimeout(run, 1)", clock, "clock.sleep"],
    ["setTimeout(run, 1)", example, "clock.sleep"],
    ["setImmediate(run)", "packages/clock/src/testing/fake-clock.ts", "clock.sleep"],
    ["const later = setTimeout", wait, "clock.sleep"],
    ["globalThis.setInterval(run, 1)", wait, "clock.afterFunc"],
    ['globalThis["setImmediate"](run)', wait, "clock.afterFunc"],
    ["const { clearTimeout } = globalThis", wait, "clock.afterFunc"],
    ['import { setTimeout } from "node:timers"', wait, "clock.sleep"],
    ['import * as timers from "timers/promises"', wait, "clock.sleep"],
    ['await import("node:timers/promises")', wait, "clock.sleep"],
    ['import { performance as p } from "node:perf_hooks"', wait, "clock.monotonic()"],
    ["performance.now()", wait, "clock.monotonic()"],
    ["process.hrtime.bigint()", wait, "clock.monotonic()"],
    ["Date.now()", controller, "clock.now()"],
    ["globalThis.Date.now()", wait, "clock.now()"],
    ["new Date()", wait, "clock.now()"],
    ["AbortSignal.timeout(1)", wait, "clock.timeout("],
  ],
  "law/chance-is-an-argument": [
    ["Math.random()", wait, "injected Random"],
    ['Math["random"]()', controller, "injected Random"],
    ["globalThis.crypto.randomUUID()", controller, "uuidFrom(random)"],
    ['import { randomUUID } from "node:crypto"', outbox, "uuidFrom(random)"],
    ['import { randomBytes as draw } from "crypto"', wait, "injected Random"],
    ["const { random } = Math", "packages/clock/src/real-clock.ts", "injected Random"],
  ],
  "law/signals-do-not-pile-up": [
    ["AbortSignal.any([a, b])", "packages/clock/src/abort/abort-list.ts", "release in `finally`"],
    ["AbortSignal.any([a, b])", example, "release in `finally`"],
  ],
  "law/one-listener-per-signal": [
    ['signal.addEventListener("abort", stop)', clock, "onAbort"],
    ['signal?.addEventListener("abort", stop)', wait, "clock.sleep(delay, { signal })"],
    ["signal.onabort = stop", wait, "onAbort"],
    ['signal.addEventListener("abort", stop)', "packages/clock/src/abort/abort-list.ts", "onAbort"],
    ['import { addAbortListener } from "node:events"', controller, "onAbort"],
  ],
  "law/one-loop": [
    ["while (true) await clock.sleep(1)", wait, "loop.ts"],
    ["for (;;) { try { await run() } catch {} }", wait, "loop.ts"],
    ["for await (const tick of ticker) run(tick)", wait, "loop.ts"],
    ["await timer.fired", wait, "loop.ts"],
  ],
  "law/loops-do-not-sleep": [
    ["while (true) await clock.sleep(1)", controller, "loop()"],
    ["for (;;) { await run(); await clock.sleepUntil(1) }", outbox, "loop()"],
    ["await timer.fired", kubernetes, "loop()"],
  ],
  "law/exports-are-named": [
    ['export * from "./poll.ts"', "packages/wait/src/index.ts", "Name each export"],
    ["export default function poll() {}", wait, "after its file"],
  ],
  "law/test-names-state-facts": [
    ['it("should poll", run)', "packages/wait/test/poll/poll.test.ts", "present tense"],
  ],
  "no-restricted-imports": [
    ['import { requireDelay } from "@holdfast/kit"', example, "what users have"],
  ],
  "max-params": [["export function f(a, b, c, d, e) {}", wait, "Maximum allowed is 4"]],
};

describe.each(Object.entries(breaches))("%s", (law, rows) => {
  it.each(rows)("forbids %s in %s", async (code, path, advice) => {
    expect(await lint(path, code)).toEqual([
      expect.objectContaining({ ruleId: law, message: expect.stringContaining(advice) }),
    ]);
  });
});

it.each([
  [
    "the timers of the platform",
    "packages/clock/src/host/platform.ts",
    "globalThis.setTimeout(run, 1)",
  ],
  [
    "an abort listener that survives stopImmediatePropagation",
    "packages/clock/src/host/platform.ts",
    'import { addAbortListener } from "node:events"',
  ],
  ["a loop that reads page after page", kubernetes, "for (;;) await read()"],
  ["a single delay", outbox, "await clock.sleep(1)"],
  ["chance at its source", "packages/wait/src/delay/random.ts", "Math.random()"],
  ["an id at its source", "packages/kit/src/uuid-from.ts", "crypto.randomUUID()"],
  [
    "the one listener",
    "packages/clock/src/host/platform.ts",
    'signal.addEventListener("abort", stop)',
  ],
  ["the one loop", "packages/wait/src/loop/loop.ts", "while (await timer.fired) await run()"],
  ["converting a time it was given", wait, "new Date(at).toISOString(); Date.parse(text)"],
  ["the type of a timer", wait, "export let at: ReturnType<typeof setTimeout> | Date;"],
  ["a parameter called performance", wait, "export const f = (performance: number) => performance"],
  ["timers in a test of real time", "packages/clock/test/real.test.ts", "setTimeout(run, 1)"],
  ["an abort listener in an example", example, 'signal.addEventListener("abort", close)'],
])("allows %s", async (_, path, code) => {
  expect(await lint(path, code)).toEqual([]);
});

it.each(["packages/wait/src/a.ts", "packages/wait/test/a.test.ts", "bench/a.ts", "tools/a.ts"])(
  "looks for lost promises in %s",
  async (path) => {
    const { rules } = (await eslint.calculateConfigForFile(path)) as { rules: Linter.RulesRecord };
    expect(rules["@typescript-eslint/no-floating-promises"]).toContain(2);
    expect(rules["@typescript-eslint/no-misused-promises"]).toContain(2);
  },
);
