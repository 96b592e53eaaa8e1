import { FakeClock } from "@holdfast/clock/testing";
import { expect, test, vi } from "vitest";
import { mirror } from "../../src/getting-started/mirror.ts";

test("retries a failed request, and repairs a changed file within an hour", async () => {
  const statuses = [503, 503];
  vi.stubGlobal("fetch", async () => new Response("hello", { status: statuses.shift() ?? 200 }));
  const stored = new Map<string, string>();
  const files = {
    read: async (name: string) => stored.get(name),
    write: async (name: string, text: string) => void stored.set(name, text),
  };

  const clock = new FakeClock();
  const stop = new AbortController();
  const pages = new Map([["a.html", "https://example.org/"]]);
  const running = mirror(pages, files, { clock, random: () => 0.5 }).run(stop.signal);
  await clock.step(0);
  expect(stored.get("a.html")).toBeUndefined(); // the first attempt has failed

  await clock.step(1_000);
  expect(stored.get("a.html")).toBe("hello");

  stored.set("a.html", "changed by hand");
  await clock.step(60 * 60_000);
  expect(stored.get("a.html")).toBe("hello");

  stop.abort();
  await running;
  expect(clock.waiters()).toBe(0); // no timer is left
});
