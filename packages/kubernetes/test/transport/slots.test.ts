import { expect, it } from "vitest";
import { Slots } from "../../src/transport/slots.ts";

it("a place that is given back twice is one place", async () => {
  const { signal } = new AbortController();
  const slots = new Slots(1);
  const giveBack = await slots.take(signal);
  giveBack();
  giveBack();
  await slots.take(signal);
  const abort = new AbortController();
  const third = slots.take(abort.signal);
  abort.abort("none is free");
  await expect(third).rejects.toBe("none is free");
});
