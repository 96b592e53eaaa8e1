import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { openRecording, Player, Recorder, type Tape } from "@holdfast/controller/recording";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { withPayload } from "../../src/message/stored-payload.ts";
import { messageCodec } from "../../src/message-codec.ts";
import { bodyOf } from "../../src/publisher/message-body.ts";
import { sampleMessage } from "../sample-message.ts";

/** JSON that is another text after it was parsed. */
const PAYLOAD = '{"price": 10.00, "id": 9007199254740993}';

it("gives a replay the payload of a message as it is stored, byte for byte", async () => {
  const directory = tempFolder(onTestFinished);
  const store = { claim: async () => [withPayload(sampleMessage(), PAYLOAD)] };
  const bodies = (tape: Tape) =>
    tape.run(async () => (await tape.link(store, "store").claim()).map(bodyOf));
  const clock = new FakeClock();
  const recorder = new Recorder({
    ...{ name: "shop", identity: "a", recording: { directory }, clock, codecs: [messageCodec] },
    ...{ logger: silentLogger, program: {} },
  });
  expect(await clock.run(() => bodies(recorder))).toEqual([PAYLOAD]);
  const recording = await openRecording(directory);
  const player = new Player(recording, { patience: 0, codecs: [messageCodec] });
  expect(await bodies(player)).toEqual([PAYLOAD]);
  expect(player.replayed.divergence).toBeUndefined();
  const lacking = new Player(recording, { patience: 0 });
  await expect(bodies(lacking)).rejects.toThrow(
    'the recording has a value of codec "message": add it to codecs',
  );
});
