import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { FakeClock } from "@holdfast/clock/testing";
import { getText } from "./get-text.ts";

afterEach(() => mock.restoreAll());

test("waits for as long as the server asks", async () => {
  const answers = [
    new Response("slow down", { status: 429, headers: { "Retry-After": "20" } }),
    new Response("hello"),
  ];
  mock.method(globalThis, "fetch", async () => answers.shift());

  const clock = new FakeClock();
  const start = clock.monotonic();
  const { signal } = new AbortController();
  assert.equal(await clock.run(() => getText("https://example.org/", signal, { clock })), "hello");
  assert.equal(clock.monotonic() - start, 20_000);
});
