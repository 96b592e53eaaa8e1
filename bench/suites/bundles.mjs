import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const resolveDir = fileURLToPath(new URL("..", import.meta.url));

/** What a program ships for some lines of code, everything they pull in included. */
async function bundle(code, external = []) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir },
    bundle: true,
    minify: true,
    format: "esm",
    // Not "node", for which rxjs and others name CommonJS, which cannot be taken apart.
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "node20",
    external: ["node:*", ...external],
    write: false,
  });
  // Without the statements that import the clock: they are gone where it is bundled, too.
  const text = outputFiles[0].text.replaceAll(/import\{[^}]*\}from"@holdfast\/clock[^"]*";/g, "");
  return { minified: Buffer.byteLength(text), gzipped: gzipSync(text, { level: 9 }).length };
}

const CLOCK = 'export * from "@holdfast/clock";';

/**
 * Of what stands on the clock there are two more figures: what a program grows by that has all of
 * `@holdfast/clock` already, the argument checks it has no use for not included; and what is its own
 * code, nothing of the clock.
 */
function ours(name, from) {
  return () => async () => {
    const code = `export ${name === "*" ? name : `{ ${name} }`} from "${from}";`;
    const { minified, gzipped } = await bundle(code);
    if (!from.startsWith("@holdfast/wait")) return { minified, gzipped };
    const [clock, both] = [await bundle(CLOCK), await bundle(CLOCK + code)];
    const own = await bundle(code, ["@holdfast/clock"]);
    return {
      minified,
      gzipped,
      "added to the clock": both.gzipped - clock.gzipped,
      "without the clock": own.gzipped,
    };
  };
}

const rival = (code) => () => () => bundle(code);

const RETRY_OF_EFFECT = `
  import * as Effect from "effect/Effect";
  import * as Schedule from "effect/Schedule";
  export const retry = (fn) =>
    Effect.runPromise(Effect.retry(Effect.tryPromise(fn), Schedule.exponential(100)));`;

const CONTENDERS = {
  retry: ours("retry", "@holdfast/wait"),
  poll: ours("poll", "@holdfast/wait"),
  every: ours("every", "@holdfast/wait"),
  backoffUntil: ours("backoffUntil", "@holdfast/wait"),
  Backoff: ours("Backoff", "@holdfast/wait"),
  connectWithBackoff: ours("connectWithBackoff", "@holdfast/wait/connect"),
  withTimeout: ours("withTimeout", "@holdfast/wait"),
  "everything of @holdfast/wait": ours("*", "@holdfast/wait"),
  "everything of @holdfast/wait/go": ours("*", "@holdfast/wait/go"),
  "everything of @holdfast/wait/strategies": ours("*", "@holdfast/wait/strategies"),
  "realClock, with its sleep": ours("realClock", "@holdfast/clock"),
  FakeClock: ours("FakeClock", "@holdfast/clock/testing"),
  "p-retry": rival('export { default } from "p-retry";'),
  cockatiel: rival('export { ExponentialBackoff, handleAll, retry } from "cockatiel";'),
  "retry (npm)": rival('export { operation } from "retry";'),
  "async-retry": rival('export { default } from "async-retry";'),
  "exponential-backoff": rival('export { backOff } from "exponential-backoff";'),
  "p-wait-for": rival('export { default } from "p-wait-for";'),
  "effect, Effect.retry": rival(RETRY_OF_EFFECT),
  "rxjs, retry and timer": rival('export { defer, firstValueFrom, retry, timer } from "rxjs";'),
};

export const bundles = {
  id: "h",
  title: "What an import weighs, in bytes",
  cases: [
    {
      id: "gzip",
      title: "bundled and minified by esbuild, gzipped",
      sizes: [1],
      quickSizes: [1],
      samples: 1,
      milliseconds: 0,
      unit: "import",
      contenders: CONTENDERS,
    },
  ],
};
