import { FakeClock } from "@holdfast/clock/testing";
import { expect, test, vi } from "vitest";
import { getText } from "../../src/getting-started/get-text.ts";

test("waits as long as Retry-After asks", async () => {
  const answers = [
    new Response("slow down", { status: 429, headers: { "Retry-After": "20" } }),
    new Response("hello"),
  ];
  vi.stubGlobal("fetch", async () => answers.shift());
  const clock = new FakeClock();
  const start = clock.monotonic();
  const { signal } = new AbortController();
  expect(await clock.run(() => getText("https://example.org/", signal, { clock }))).toBe("hello");
  expect(clock.monotonic() - start).toBe(20_000); // in a few real milliseconds
});
