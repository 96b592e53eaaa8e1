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

it.each([
  "retry(({ signal }) => guard.execute(() => load(signal)), { attemptTimeout: 10 })",
  "withTimeout(async (signal) => { await limiter.acquire(signal); }, 10)",
])("finds %s", (sample) => {
  expect(limitedWaits(sample)).toHaveLength(1);
});
