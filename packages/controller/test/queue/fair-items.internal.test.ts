import { expect, it, onTestFinished, vi } from "vitest";
import { FairItems } from "../../src/queue/fair-items.ts";
import { ReadyItems } from "../../src/queue/ready-items.ts";

it("lists a large group beside many small ones in a few steps for each key", () => {
  const GROUPS = 500;
  const items = new FairItems<string>(1_000, (key) => key.split("/")[0] as string);
  for (let key = 0; key < GROUPS; key++)
    for (const name of [`large/${key}`, `small ${key}/1`])
      items.push(Object.assign(items.itemOf(name, name, undefined), { arrival: items.arrive() }));
  let steps = 0;
  const { keys } = ReadyItems.prototype;
  const spy = vi.spyOn(ReadyItems.prototype, "keys").mockImplementation(function (
    this: ReadyItems<unknown>,
  ) {
    return new Proxy(keys.call(this), {
      get(target, name, receiver) {
        steps++;
        return Reflect.get(target, name, receiver);
      },
    });
  });
  onTestFinished(() => spy.mockRestore());
  const listed = items.keys();
  expect(listed.slice(0, 3)).toEqual(["large/0", "small 0/1", "small 1/1"]);
  expect(listed).toHaveLength(2 * GROUPS);
  expect(steps).toBeLessThanOrEqual(10 * listed.length);
});
