import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { realClock } from "@holdfast/clock";
import { expect, it } from "vitest";
import { type Fault, faultOf } from "../../src/outbox/receiver/fault.ts";
import { Receiver } from "../../src/outbox/receiver/receiver.ts";

// Sockets, and what the operating system tells of them, are real here.

const SEED = 1;
const PATIENT = { timeout: 20_000 };

/** An order whose first attempt has no fault, and its second one this. */
function orderWith(fault: Fault): number {
  for (let order = 1; ; order++)
    if (faultOf(order, 1, SEED) === "none" && faultOf(order, 2, SEED) === fault) return order;
}

/** An effect that takes place when it is told to: until then an attempt is being handled. */
function slowEffect() {
  let go = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const apply = async (): Promise<boolean> => {
    await gone;
    return true;
  };
  return { apply, answer: () => go() };
}

async function connected(receiver: Receiver): Promise<Socket> {
  const socket = connect(Number(new URL(receiver.url).port), "127.0.0.1");
  socket.on("error", () => undefined); // of a connection that the receiver breaks
  await once(socket, "connect");
  return socket;
}

function post(id: string, order: number, sender: string): string {
  const body = JSON.stringify({ order });
  const headers = `Host: x\r\nIdempotency-Key: ${id}\r\nX-Sender: ${sender}\r\nContent-Length: ${body.length}`;
  return `POST / HTTP/1.1\r\n${headers}\r\n\r\n${body}`;
}

/** A receiver that handles the first attempt of a message until it is told to answer it. */
async function handling(fault: Fault) {
  const { apply, answer } = slowEffect();
  const receiver = await Receiver.start({ apply, seed: SEED, clock: realClock });
  const { ledger } = receiver;
  const [id, order] = [randomUUID(), orderWith(fault)];
  const sockets: Socket[] = [];
  const send = async (sender: string): Promise<Socket> => {
    const socket = await connected(receiver);
    sockets.push(socket);
    socket.write(post(id, order, sender));
    return socket;
  };
  const first = await send("a");
  await expect.poll(() => ledger.counts.open, PATIENT).toBe(1);
  return {
    id,
    ledger,
    send,
    answer: async () => {
      answer();
      await once(first, "data");
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

const secondFaults: readonly Fault[] = ["none", "error", "reset", "lost reply"];

it.each(secondFaults)(
  "counts no attempt that was given up before it is read: %s",
  async (fault) => {
    await using attempt = await handling(fault);
    const { ledger } = attempt;
    const late = await attempt.send("b");
    // The request and the end of its connection are there before the receiver looks.
    late.destroy();
    await expect.poll(() => ledger.counts, PATIENT).toMatchObject({ attempts: 2, open: 1 });
    await attempt.answer();
    expect(ledger.overlaps).toEqual([]);
  },
);

it.each(secondFaults)("reports overlapping senders and the fault: %s", async (fault) => {
  await using attempt = await handling(fault);
  const { id, ledger } = attempt;
  await attempt.send("b");
  await expect.poll(() => ledger.counts.overlaps, PATIENT).toBe(1);
  expect(ledger.overlaps).toMatchObject([
    {
      id,
      earlier: { attempt: 1, sender: "a", fault: "none" },
      later: { attempt: 2, sender: "b", fault },
    },
  ]);
  await attempt.answer();
});

it("handles each message at once when it is repaired", async () => {
  await using receiver = await Receiver.start({
    apply: async () => true,
    seed: SEED,
    clock: realClock,
  });
  const send = async (): Promise<number> => {
    const headers = { "idempotency-key": randomUUID() };
    const body = JSON.stringify({ order: 100 });
    return (await fetch(receiver.url, { method: "POST", headers, body })).status;
  };
  expect(await send()).toBe(422);
  receiver.repair();
  expect(await send()).toBe(200);
});
