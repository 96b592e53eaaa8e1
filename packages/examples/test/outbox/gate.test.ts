import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { Gate } from "../../src/outbox/gate.ts";

// Sockets are real here.

/** A server that sends back what it gets, behind a gate. */
async function echo() {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const gate = await Gate.before(`amqp://user:secret@127.0.0.1:${port}/host?heartbeat=5`);
  if (gate === undefined) throw new Error("there is no gate before the server");
  const close = async (): Promise<void> => {
    await gate[Symbol.asyncDispose]();
    server.close();
    await once(server, "close"); // No connection is left.
  };
  return { gate, port, [Symbol.asyncDispose]: close };
}

/** Resolves at the end of a connection, whether it was broken or not. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

function visit(gate: Gate): Socket {
  const socket = connect(Number(new URL(gate.url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  return socket;
}

it("has the URL of its server with its own address", async () => {
  await using world = await echo();
  const { gate, port } = world;
  expect(gate.url).toMatch(/^amqp:\/\/user:secret@127\.0\.0\.1:\d+\/host\?heartbeat=5$/);
  expect(gate.url).not.toContain(`:${port}/`);
});

it("forwards both ways, and ends one side with the other", async () => {
  await using world = await echo();
  const socket = visit(world.gate);
  socket.write("hello");
  const [data] = await once(socket, "data");
  expect(String(data)).toBe("hello");
  socket.end();
  await closed(socket);
});

it("breaks all connections, current and new, when it disconnects the server", async () => {
  await using world = await echo();
  const { gate } = world;
  const socket = visit(gate);
  socket.write("hello");
  await once(socket, "data");
  const broken = closed(socket);
  gate.disconnect();
  await broken;
  expect(gate.state).toBe("disconnected");
  await closed(visit(gate));
  gate.reconnect();
  expect(gate.state).toBe("connected");
  const another = visit(gate);
  another.write("again");
  expect(String((await once(another, "data"))[0])).toBe("again");
  another.destroy();
});

it("closes a connection to a missing server", async () => {
  const world = await echo();
  const { port } = world;
  await world[Symbol.asyncDispose]();
  await using gate = await Gate.before(`mysql://127.0.0.1:${port}/`);
  if (gate === undefined) throw new Error("there is no gate");
  await closed(visit(gate));
});

it.each([
  "amqps://127.0.0.1:5671",
  "postgres://127.0.0.1/db?sslmode=require",
  "postgres:///db?host=/var/run/postgresql",
  "mysql://127.0.0.1/?ssl={}",
  "nonsense",
])("skips a server that plain TCP does not reach: %s", async (url) => {
  expect(await Gate.before(url)).toBe(undefined);
});
