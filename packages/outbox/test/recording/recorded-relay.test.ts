import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { openRecording, Player, Recorder, type Tape } from "@holdfast/controller/recording";
import { type Publisher, Relay } from "@holdfast/outbox";
import { messageCodec } from "@holdfast/outbox/store";
import { faultyStore, MemoryStore, RecordingPublisher } from "@holdfast/outbox/testing";
import { RetryAfterError, TerminalError } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";

const MESSAGES = 60;
const REPLAYS = 20;
const codecs = [messageCodec];

type Store = ConstructorParameters<typeof Relay>[0]["store"];

/** Runs a relay on any tape. */
function relaying(tape: Tape, store: Store, publisher: Publisher, stop: AbortSignal) {
  return tape.run(async () => {
    const { clock, random } = tape;
    using stopping = tape.stop(stop);
    const relay = new Relay({
      ...{ name: "shop", clock, random, logger: silentLogger, breaker: {} },
      store: tape.link(store, "store"),
      publisher: tape.link(publisher, "publisher"),
    });
    await relay.run(stopping.signal);
  });
}

/** Confirms two of three messages, and fails in every way. */
function receiver(random: () => number): () => void {
  return () => {
    const drawn = random();
    if (drawn < 0.2) throw new Error("down");
    if (drawn < 0.25) throw new TerminalError("no such topic", { cause: new Error("404") });
    if (drawn < 0.33) throw new RetryAfterError(30_000);
  };
}

it.for([1, 2, 3, 4])("replays a relay 20 times, call by call, seed %d", async (seed) => {
  const directory = tempFolder(onTestFinished);
  const clock = new FakeClock();
  const random = seededRandom(seed);
  const order = seed % 2 === 0 ? "key" : "none";
  const memory = new MemoryStore({ order });
  const publisher = new RecordingPublisher({ clock, delay: 20, respond: receiver(random) });
  const lose = (): void => {
    if (random() < 0.03) throw new Error("the connection is lost");
  };
  const store = faultyStore(memory, { before: lose, after: lose });
  const recorder = new Recorder({
    ...{ name: "shop", identity: "a", recording: { directory }, clock, random, codecs },
    ...{ logger: silentLogger, program: {} },
  });
  const stop = new AbortController();
  await clock.run(async () => {
    const running = relaying(recorder, store, publisher, stop.signal);
    for (let number = 0; number < MESSAGES; number++) {
      const message = {
        topic: `topic.${number % 3}`,
        key: `key/${number % 7}`,
        payload: { number },
      };
      await memory.transaction((tx) => memory.save(tx, message, clock.now()));
      await clock.sleep(random() * 2_000);
    }
    await clock.sleep(600_000);
    stop.abort();
    await running;
  });
  expect(publisher.confirmed.length).toBeGreaterThan(MESSAGES / 2);
  expect(clock.waiters()).toBe(0);

  const recording = await openRecording(directory);
  const calls = [...recording.lines()].filter(({ k }) => k === "l").length;
  expect(calls).toBeGreaterThan(MESSAGES * 2);
  const never = new AbortController().signal;
  for (let run = 0; run < REPLAYS; run++) {
    const player = new Player(recording, { patience: 0, codecs });
    const unused = new RecordingPublisher();
    await relaying(player, faultyStore(new MemoryStore({ order }), {}), unused, never);
    const { divergence, foreign, timers, ...counts } = player.replayed;
    expect([divergence, foreign, timers, unused.attempts]).toEqual([undefined, [], [], []]);
    expect(counts.calls).toBe(calls);
  }
});
