import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { FencedTable } from "../../src/supervisor/replica/fenced-table.ts";
import { FakeProcessTable } from "./fake-process-table.ts";

const LAUNCH = { name: "web", command: "web", args: [], env: {}, cwd: "/" };

/** A table that is fenced by what a test says, and its roster. */
function fenced(isLeader: () => boolean, note: (entry: string) => void = () => {}) {
  const table = new FakeProcessTable(new FakeClock(), { web: () => ({}) });
  const listed: string[] = [];
  const roster = {
    mark: (token: number) => ({ TOKEN: `${token}` }),
    add: (token: number, pid: number): Disposable => {
      const entry = `${token}: ${pid}`;
      note(entry);
      listed.push(entry);
      return { [Symbol.dispose]: () => listed.splice(listed.indexOf(entry), 1) };
    },
  };
  return { table, listed, fence: new FencedTable(table, { roster, token: 7, isLeader }) };
}

it("lists a started process until it has ended", async () => {
  const { table, listed, fence } = fenced(() => true);
  const child = fence.start(LAUNCH);
  expect(listed).toEqual([`7: ${child.pid}`]);
  expect(table.launches).toEqual([{ ...LAUNCH, env: { TOKEN: "7" } }]);
  expect(fence.alive()).toEqual([child.pid]);
  fence.killAll();
  await child.exited;
  expect(listed).toEqual([]);
  expect(table.alive()).toEqual([]);
});

it("starts nothing once it no longer leads", async () => {
  const { table, listed, fence } = fenced(() => false);
  const child = fence.start(LAUNCH);
  expect(child.pid).toBeUndefined();
  expect(await child.exited).toEqual({
    kind: "error",
    message: "another supervisor may lead by now",
  });
  expect([table.launches, listed]).toEqual([[], []]);
});

it("kills a process that started while it was suspended", async () => {
  const answers = [true, false];
  const { table, fence } = fenced(() => answers.shift() ?? false);
  const child = fence.start(LAUNCH);
  expect(await child.exited).toEqual({ kind: "signal", signal: "SIGKILL" });
  expect(table.alive()).toEqual([]);
});

it("kills a process that it cannot list, and reports the reason", async () => {
  const full = (): never => {
    throw new Error("no space left on device");
  };
  const { table, fence } = fenced(() => true, full);
  const child = fence.start(LAUNCH);
  expect(child.pid).toBeUndefined();
  expect(await child.exited).toEqual({
    kind: "error",
    message: "it could not be added to the roster: no space left on device",
  });
  expect(table.launches).toHaveLength(1);
  expect(table.alive()).toEqual([]);
});
