import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi, type HookFault } from "@holdfast/fake-apiserver";
import { fromCrd, type KubeObject } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { convertTask, taskCrd } from "../../conformance/tasks.ts";

interface Task extends KubeObject {
  spec: { schedule?: string; at?: object };
}
const converted = (version: string) => ({
  ...fromCrd<Task>(taskCrd, version),
  convert: convertTask,
});
const [First, Second] = [converted("v1"), converted("v2")];
const TASK = { metadata: { namespace: "default", name: "a" }, spec: { schedule: "5 4" } };

function world() {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [First] });
  const start = clock.now();
  /** The outcome of a read in the version that is not stored, with the milliseconds that it took. */
  const read = async () => {
    const begin = clock.now();
    const outcome = await api.client.get(Second, "default/a", { retries: 0, timeout: 60_000 }).then(
      ({ spec }) => JSON.stringify(spec.at),
      ({ message }: Error) => message,
    );
    return [clock.now() - begin, outcome] as const;
  };
  return { clock, api, start, read };
}

const faults: readonly (readonly [HookFault, number, RegExp])[] = [
  [{ type: "down" }, 0, /500: conversion webhook for .*connection refused/],
  [{ type: "slow" }, 30_000, /500: conversion webhook for .*context deadline exceeded/],
  [{ type: "refuses", message: "no" }, 0, /500: conversion webhook for .*Kind=Task failed: no/],
];

it.each(faults)("a read of a version that is not stored meets %j", async (fault, took, outcome) => {
  const { clock, api, read } = world();
  await clock.run(async () => {
    await api.client.create(First, TASK);
    const broken = api.intercept({ hook: Second, fault });
    expect(await read()).toEqual([took, expect.stringMatching(outcome)]);
    expect((await api.client.get(First, "default/a")).spec.schedule).toBe("5 4");
    broken[Symbol.dispose]();
    expect(await read()).toEqual([0, '{"minute":"5","hour":"4"}']);
  });
  expect(clock.waiters()).toBe(0);
});

it("a write that does not convert stores nothing, and takes no version", async () => {
  const { clock, api } = world();
  await clock.run(async () => {
    await api.client.create(First, TASK);
    const patch = { metadata: { labels: { a: "1" } } };
    {
      // The object is read, and not stored.
      using _down = api.intercept({ hook: Second, fault: { type: "down" } });
      await expect(api.client.patch(Second, "default/a", patch, { retries: 0 })).rejects.toThrow(
        "500",
      );
    }
    expect((await api.client.patch(Second, "default/a", patch)).metadata.resourceVersion).toBe("3");
  });
});

it("a list waits 3 s for objects that do not convert, and a watch is silent for 30 s and ends", async () => {
  const { clock, api, start } = world();
  const seen: unknown[] = [];
  const note = (what: unknown) => void seen.push([clock.now() - start, what]);
  await clock.run(async () => {
    await api.client.create(First, TASK);
    const { signal } = new AbortController();
    const path = "/apis/converted.example.org/v2/tasks?watch=true&resourceVersion=2";
    const { body } = await api.transport.send({ method: "GET", path, headers: {} }, signal);
    const reading = (async () => {
      for await (const chunk of body) note(JSON.parse(Buffer.from(chunk).toString()).type);
      note("end");
    })();
    await api.client.patch(First, "default/a", { metadata: { labels: { a: "1" } } });
    await clock.sleep(1_000);
    const broken = { metadata: { annotations: { broken: "1" } } };
    await api.client.patch(First, "default/a", broken);
    await api.client.create(First, { ...TASK, metadata: { namespace: "default", name: "b" } });
    const list = api.transport.send(
      { method: "GET", path: path.split("?")[0] as string, headers: {} },
      signal,
    );
    note((await list).status);
    await reading;
  });
  expect(seen).toEqual([
    [0, "MODIFIED"],
    [4_000, 500],
    [31_000, "end"],
  ]);
  expect(clock.waiters()).toBe(0);
});

it("defaults of a version that is not stored are not filled in by a read", async () => {
  const { api } = world();
  await api.client.create(First, TASK);
  const { spec } = await api.client.get(Second, "default/a");
  expect(spec).toEqual({ at: { minute: "5", hour: "4" }, filled: "one" });
});
