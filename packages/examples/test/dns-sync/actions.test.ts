import { describe, expect, it, vi } from "vitest";
import { actionsOf } from "../../src/dns-sync/web/actions.ts";

function world(canStopApi = true) {
  const ends: (() => void)[] = [];
  const fault = (): Promise<never> =>
    new Promise((_, reject) => ends.push(() => reject(new Error("no leader"))));
  const faults = {
    killLeader: vi.fn(fault),
    stopApi: vi.fn(fault),
    compact: vi.fn(fault),
    provider: vi.fn(fault),
    edit: vi.fn(fault),
    drift: vi.fn(fault),
    signal: new AbortController().signal,
  };
  const actions = actionsOf({ faults, canStopApi });
  const press = async (path: string) =>
    await actions.get(path)?.(new URL(`http://127.0.0.1${path}`));
  return { faults, press, ends };
}

describe("actionsOf", () => {
  it.each([
    ["/kill", "killLeader", []],
    ["/stop-api", "stopApi", [8_000]],
    ["/compact", "compact", []],
    ["/outage", "provider", ["outage", 6_000]],
    ["/edit", "edit", [5_000]],
    ["/drift", "drift", [20]],
  ] as const)(
    "%s starts its fault, refuses a second one meanwhile, and starts again afterwards",
    async (path, name, args) => {
      const { faults, press, ends } = world();
      expect(await press(path)).toMatchObject({ status: 200 });
      expect(await press(path)).toMatchObject({
        status: 409,
        body: "Already in progress.\n",
      });
      expect(faults[name].mock.calls).toEqual([args]);
      ends[0]?.();
      await vi.waitFor(async () => expect(await press(path)).toMatchObject({ status: 200 }));
      expect(faults[name]).toHaveBeenCalledTimes(2);
    },
  );

  it.each(["/stop-api", "/compact"])("%s refuses to stop an existing cluster", async (path) => {
    const { faults, press } = world(false);
    expect(await press(path)).toMatchObject({ status: 409 });
    expect(faults.stopApi).not.toHaveBeenCalled();
    expect(faults.compact).not.toHaveBeenCalled();
  });
});
