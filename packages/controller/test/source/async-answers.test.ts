import { FakeClock } from "@holdfast/clock/testing";
import { filterSource, fromIterable } from "@holdfast/controller";
import { expect, it } from "vitest";

it("a Promise from isWanted is a mistake, and lets no event through", async () => {
  const files = fromIterable("files", async function* () {
    yield* await Promise.resolve(["a"]);
  });
  const seen: string[] = [];
  const context = {
    enqueue: (event: string) => seen.push(event),
    failed: (error: unknown) => seen.push(String(error)),
    clock: new FakeClock(),
  };
  const no = (async () => false) as never;
  await filterSource(files, no).start(context as never, new AbortController().signal);
  expect(seen).toEqual(["TypeError: isWanted(event) must return true or false, got a Promise"]);
});
