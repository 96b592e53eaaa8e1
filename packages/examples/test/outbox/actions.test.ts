import { expect, it } from "vitest";
import { actionsOf } from "../../src/outbox/web/actions.ts";

function world() {
  const log: string[] = [];
  const actions = actionsOf({
    board: { log: (text) => void log.push(text) },
    kill: (worker) => worker === "worker-1",
    replay: async () => 1,
  });
  const post = async (path: string) => {
    const url = new URL(path, "http://127.0.0.1");
    const { status, body } = (await actions.get(url.pathname)?.(url)) ?? { status: 404, body: "" };
    return [status, body.trim()];
  };
  return { log, post };
}

it.each([
  { path: "/kill?worker=worker-9", text: 'Worker "worker-9" is not running.' },
  { path: "/kill", text: 'Worker "" is not running.' },
])("refuses $path and changes nothing", async ({ path, text }) => {
  const { log, post } = world();
  expect(await post(path)).toEqual([409, text]);
  expect(log).toEqual([]);
});

it("reports its effect in the response and in the log", async () => {
  const { log, post } = world();
  expect(await post("/kill?worker=worker-1")).toEqual([
    200,
    "worker-1 was killed. A new worker replaces it.",
  ]);
  expect(await post("/replay")).toEqual([
    200,
    "1 dead letter is pending again, and the receiver is repaired.",
  ]);
  expect(log).toEqual(["1 dead letter is pending again, and the receiver is repaired"]);
});
