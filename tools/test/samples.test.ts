import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";
import { documentation } from "../doc-copies.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The waits for a limiter or a bulkhead of one's own that a sample limits together with a call, as text. */
function limitedWaits(sample: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node, isLimited: boolean): void => {
    const isCall = ts.isCallExpression(node);
    if (isCall && isLimited && /\.(acquire|execute)$/.test(node.expression.getText()))
      found.push(node.getText());
    const limits =
      isCall &&
      (node.expression.getText() === "withTimeout" ||
        node.arguments.some(
          (one) => ts.isObjectLiteralExpression(one) && /\battemptTimeout\b/.test(one.getText()),
        ));
    ts.forEachChild(node, (child) => visit(child, isLimited || limits));
  };
  visit(ts.createSourceFile("sample.ts", sample, ts.ScriptTarget.Latest, true), false);
  return found;
}

it("limits the time of a call, and not of the wait for a limiter of one's own", () => {
  const samples = documentation(root)
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) =>
      [...readFileSync(join(root, path), "utf8").matchAll(/```ts.*\n([\s\S]*?)```/g)].map(
        ([, sample = ""]) => ({ path, waits: limitedWaits(sample) }),
      ),
    );
  expect(samples.length).toBeGreaterThan(100);
  expect(samples.filter(({ waits }) => waits.length > 0)).toEqual([]);
});

/** The pools of `pg` that a text makes: the settings of each, and the sample that it is in. */
function poolsIn(text: string): { readonly settings: string; readonly sample: string }[] {
  const samples = [...text.matchAll(/```ts.*\n([\s\S]*?)```/g)].map(([, sample = ""]) => sample);
  return samples.flatMap((sample) =>
    [...sample.matchAll(/new (?:pg\.)?Pool\(([^)]*)\)/g)].map(([, settings = ""]) => ({
      settings,
      sample,
    })),
  );
}

function settingOf(settings: string, name: string): number {
  return Number(new RegExp(`\\b${name}: ([\\d_]+)`).exec(settings)?.[1]?.replaceAll("_", ""));
}

/**
 * What is wrong with a pool: who gives up must not leave a request on the server, and a session that the server ends must not
 * end the process. A pool hears its idle connections alone; an outbox hears all of them.
 */
function mistakesOf({ settings, sample }: ReturnType<typeof poolsIn>[number]): string[] {
  const ofServer = settingOf(settings, "statement_timeout");
  const ofDriver = settingOf(settings, "query_timeout");
  const isOfOutbox = /new (?:PgDatabase|PostgresOutbox)\(/.test(sample);
  const hears = (event: string): boolean => isOfOutbox || sample.includes(`pool.on("${event}"`);
  return [
    ...(hears("error") ? [] : ["ends with an idle connection"]),
    ...(!/pool\.connect\(\)/.test(sample) || hears("connect")
      ? []
      : ["ends with a connection in use"]),
    ...(settingOf(settings, "connectionTimeoutMillis") > 0 ? [] : ["waits for ever to connect"]),
    ...(ofServer > 0 ? [] : ["leaves statements on the server"]),
    ...(ofDriver <= ofServer ? ["gives up before the server does"] : []),
    ...(ofDriver > 0 && !isOfOutbox ? ["leaves a COMMIT on the server"] : []),
  ];
}

it("gives every pool of PostgreSQL the limits of the guide", () => {
  const pools = documentation(root).flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return poolsIn(path.endsWith(".md") ? text : text.replaceAll(/^ *\* ?/gm, "")).map((pool) => ({
      path,
      ...pool,
    }));
  });
  expect(pools.length).toBeGreaterThan(12);
  const wrong = pools.map((pool) => ({ ...pool, mistakes: mistakesOf(pool) }));
  expect(wrong.filter(({ mistakes }) => mistakes.length > 0)).toEqual([]);
});

it.each([
  ["", ["waits for ever to connect", "leaves statements on the server"]],
  [
    "{ connectionTimeoutMillis: 5_000, query_timeout: 5_000 }",
    ["leaves statements on the server", "leaves a COMMIT on the server"],
  ],
  [
    "{ connectionTimeoutMillis: 1, statement_timeout: 5_000, query_timeout: 5_000 }",
    ["gives up before the server does", "leaves a COMMIT on the server"],
  ],
  ["{ connectionTimeoutMillis: 1, statement_timeout: 5_000 }", []],
])("finds the mistakes of a pool with %j", (settings, mistakes) => {
  const heard = `new pg.Pool(${settings});\npool.on("error", warn);`;
  const [pool] = poolsIn(`\`\`\`ts no-run\n${heard}\n\`\`\``);
  expect(pool && mistakesOf(pool)).toEqual(mistakes);
});

it.each([
  ["", ["ends with an idle connection"]],
  ["new PgDatabase(pool); const one = await pool.connect();", []],
  ['pool.on("error", warn); const one = await pool.connect();', ["ends with a connection in use"]],
  ['pool.on("error", warn); pool.on("connect", hear); const one = await pool.connect();', []],
])("finds the errors that a pool does not hear beside %j", (sample, mistakes) => {
  const settings = "{ connectionTimeoutMillis: 1, statement_timeout: 5_000 }";
  expect(mistakesOf({ settings, sample })).toEqual(mistakes);
});

it.each([
  "retry(({ signal }) => guard.execute(() => load(signal)), { attemptTimeout: 10 })",
  "withTimeout(async (signal) => { await limiter.acquire(signal); }, 10)",
])("finds %s", (sample) => {
  expect(limitedWaits(sample)).toHaveLength(1);
});
