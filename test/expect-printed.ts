import { format } from "node:util";
import { expect, vi } from "vitest";
import { ReplaceableGlobals } from "./replaceable-globals.ts";

/** A line of a documentation file that says what the example above it prints. */
export interface Claim {
  readonly line: number;
  readonly text: string;
}

/** Runs an example and compares what it prints by `console.log`, line by line, with its claims. */
export async function expectPrinted(
  run: () => Promise<unknown>,
  claims: readonly Claim[],
): Promise<void> {
  const printed: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...values) => {
    printed.push(...format(...values).split("\n"));
  });
  const globals = new ReplaceableGlobals();
  try {
    await run();
  } finally {
    // An example that fails before it puts the real time back must not spoil the examples after it.
    vi.useRealTimers();
    globals.restore();
    log.mockRestore();
  }
  if (claims.length === 0) return;

  const said = claims.map(({ line, text }) => `line ${line}: ${text}`);
  const seen = printed.map((text, index) => `line ${claims[index]?.line ?? "?"}: ${text.trim()}`);
  expect(seen, "what the example prints").toEqual(said);
}
