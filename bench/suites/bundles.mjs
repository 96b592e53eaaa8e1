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
  const { contents } = outputFiles[0];
  return { minified: contents.length, gzipped: gzipSync(contents, { level: 9 }).length };
}

const CLOCK = 'export * from "@holdfast/clock";';

/**
 * Of what stands on the clock there are two more figures. What a program grows by that has all of
 * `@holdfast/clock` already, the argument checks it has no use for not included; and a file of its
 * own that imports the clock and its checks, with those import statements.
 */
function ours(name, from) {
  return () => async () => {
    const code = `export ${name === "*" ? name : `{ ${name} }`} from "${from}";`;
    const { minified, gzipped } = await bundle(code);
    if (from !== "@holdfast/wait") return { minified, gzipped };
    const [clock, both] = [await bundle(CLOCK), await bundle(CLOCK + code)];
    const alone = await bundle(code, ["@holdfast/clock"]);
    return {
      minified,
      gzipped,
      "added to the clock": both.gzipped - clock.gzipped,
      "gzipped, no clock": alone.gzipped,
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
  FullJitterBackoff: ours("FullJitterBackoff", "@holdfast/wait"),
  connectWithBackoff: ours("connectWithBackoff", "@holdfast/wait"),
  "everything of @holdfast/wait": ours("*", "@holdfast/wait"),
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
