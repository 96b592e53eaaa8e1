import { EventEmitter } from "node:events";
import { FakeClock } from "@holdfast/clock/testing";
import { EventStream } from "@holdfast/kit/node";
import { expect, it } from "vitest";

/** A connection that keeps what it gets. */
class Client extends EventEmitter {
  readonly req = { method: "GET" };
  readonly writableNeedDrain = false;
  readonly texts: string[] = [];

  writeHead(): void {}

  write(text: string): void {
    this.texts.push(text);
  }
}

it("a write that fails harms neither the process nor the other clients", () => {
  const clock = new FakeClock();
  let change = (): void => {};
  const status = {
    snapshot: () => clock.monotonic(),
    onChange: (listener: () => void) => {
      change = listener;
      return { [Symbol.dispose]: () => {} };
    },
  };
  const stream = new EventStream({ clock, status, encode: () => "state" });
  const [broken, other] = [new Client(), new Client()];
  for (const client of [broken, other]) stream.add(client as never);
  broken.emit("error", new Error("EPIPE"));
  broken.emit("close");
  change();
  expect(broken.texts).toEqual(['retry: 1000\n\ndata: "state"\n\n']);
  expect(other.texts).toEqual(['retry: 1000\n\ndata: "state"\n\n', 'data: "state"\n\n']);
  other.emit("close");
  expect(clock.waiters()).toBe(0);
});
