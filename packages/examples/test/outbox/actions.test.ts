import { expect, it } from "vitest";
import type { Switch } from "../../src/outbox/switch.ts";
import { actionsOf } from "../../src/outbox/web/actions.ts";

function world() {
  const said: string[] = [];
  const receiver: { -readonly [Name in keyof Switch]: Switch[Name] } = {
    state: "connected",
    disconnect: () => {
      receiver.state = "disconnected";
    },
    reconnect: () => {
      receiver.state = "connected";
    },
  };
  const actions = actionsOf({
    board: {
      log: (text, name = "all") => void said.push(`${name} ${text}`),
      switchOf: (service) => (service === "receiver" ? receiver : undefined),
    },
    kill: (worker) => worker === "worker-1",
    replay: async () => 1,
  });
  const post = async (path: string) => {
    const url = new URL(path, "http://127.0.0.1");
    const { status, body } = (await actions.get(url.pathname)?.(url)) ?? { status: 404, body: "" };
    return [status, body.trim()];
  };
  return { said, receiver, post };
}

it.each([
  { path: "/kill?worker=worker-9", text: 'Worker "worker-9" is not running.' },
  { path: "/kill", text: 'Worker "" is not running.' },
  { path: "/disconnect?service=database", text: 'Service "database" cannot be disconnected.' },
  { path: "/reconnect", text: 'Service "" cannot be disconnected.' },
  { path: "/reconnect?service=receiver", text: "The receiver is already connected." },
])("refuses $path and changes nothing", async ({ path, text }) => {
  const { said, receiver, post } = world();
  expect(await post(path)).toEqual([409, text]);
  expect(said).toEqual([]);
  expect(receiver.state).toBe("connected");
});

it("reports its effect in the response and in the log", async () => {
  const { said, receiver, post } = world();
  expect(await post("/disconnect?service=receiver")).toEqual([
    ...[200, "The receiver was disconnected from the workers."],
  ]);
  expect(receiver.state).toBe("disconnected");
  expect(await post("/disconnect?service=receiver")).toEqual([
    ...[409, "The receiver is already disconnected."],
  ]);
  expect(await post("/reconnect?service=receiver")).toEqual([200, "The receiver was reconnected."]);
  expect(await post("/replay")).toEqual([
    ...[200, "1 dead message is pending again, and the receiver is repaired."],
  ]);
  expect(said).toEqual([
    "receiver was disconnected from the workers",
    "receiver was reconnected",
    "all 1 dead message is pending again, and the receiver is repaired",
  ]);
});
