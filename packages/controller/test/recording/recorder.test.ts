import { FakeClock } from "@holdfast/clock/testing";
import { Controller, silentLogger } from "@holdfast/controller";
import { openRecording, Player, Recorder, type Tape } from "@holdfast/controller/recording";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";

/** A shop whose orders come by a callback, and whose every third sale fails. */
class Shop {
  readonly sold: string[] = [];
  #calls = 0;
  #onOrder: (order: string) => unknown = () => {};

  async subscribe(onOrder: (order: string) => unknown): Promise<void> {
    this.#onOrder = onOrder;
  }

  async sell(order: string, note: string): Promise<{ readonly price: bigint }> {
    this.#calls += 1;
    if (this.#calls % 3 === 0) throw new RangeError("no stock");
    this.sold.push(`${order} ${note}`);
    return { price: BigInt(this.#calls) };
  }

  order(name: string): unknown {
    return this.#onOrder(name);
  }
}

/** Sells each order, on any tape. */
async function selling(tape: Tape, shop: Shop, stop: AbortSignal, note: string): Promise<string[]> {
  const log: string[] = [];
  await tape.run(async () => {
    const { clock, random } = tape;
    const linked = tape.link(shop, "shop");
    using stopping = tape.stop(stop);
    const controller = new Controller({
      ...{ name: "shop", clock, random, logger: silentLogger },
      async reconcile({ key }) {
        const { price } = await linked.sell(key, `${note} ${Math.floor(random() * 100)}`);
        log.push(`${key} ${price} at ${clock.now()}`);
      },
    });
    await linked.subscribe((order) => controller.add(order));
    await controller.run(stopping.signal);
  });
  return log;
}

it("records and replays a Controller with a linked system, without Kubernetes", async () => {
  const directory = tempFolder(onTestFinished);
  const clock = new FakeClock();
  const shop = new Shop();
  const stop = new AbortController();
  const recorder = new Recorder({
    ...{ name: "shop", identity: "one", recording: { directory }, clock },
    ...{ logger: silentLogger, program: {} },
  });
  const log = await clock.run(async () => {
    const running = selling(recorder, shop, stop.signal, "sold");
    for (let number = 0; number < 12; number++) {
      await clock.sleep(500);
      void shop.order(`order ${number % 7}`);
    }
    await clock.sleep(60_000);
    stop.abort();
    return await running;
  });
  expect(clock.waiters()).toBe(0);
  expect(shop.sold).toHaveLength(12);

  const recording = await openRecording(directory);
  const never = new AbortController().signal;
  for (let run = 0; run < 20; run++) {
    const player = new Player(recording, { patience: 0 });
    const unused = new Shop();
    expect(await selling(player, unused, never, "sold")).toEqual(log);
    expect(player.replayed).toMatchObject({ divergence: undefined, foreign: [], timers: [] });
    expect(unused.sold).toEqual([]);
  }
  const player = new Player(recording, { patience: 0 });
  await selling(player, new Shop(), never, "given");
  const { divergence } = player.replayed;
  expect(divergence?.call?.["c"]).toMatch(/^shop\.sell\("order 0", "given \d+"\)$/);
  expect(divergence?.recorded?.["c"]).toMatch(/^shop\.sell\("order 0", "sold \d+"\)$/);
});
