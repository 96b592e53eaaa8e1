import { requireStoredName } from "../message/stored-text.ts";
import { type Command, connected, type Given, read } from "./command.ts";
import { jsonLine, safeText } from "./text.ts";

function topicOf(name: string, { positionals }: Given<unknown>): string {
  const [topic, ...rest] = positionals;
  if (topic === undefined || rest.length > 0)
    throw new RangeError(`${name} needs one TOPIC; see --help`);
  requireStoredName("TOPIC", topic);
  return topic;
}

/** `pause TOPIC` */
export const pause: Command = async (args, io) => {
  const given = read(args, {}, true);
  const topic = topicOf("pause", given);
  await using connection = await connected(io, given.values);
  const { store } = connection;
  const isNew = await store.pause?.(topic, (await store.now?.()) ?? io.clock.now());
  io.print(given.values.json ? jsonLine({ paused: topic }) : `${safeText(topic)} is paused\n`);
  if (isNew === false) io.note("it was before");
  return 0;
};

/** `resume TOPIC` */
export const resume: Command = async (args, io) => {
  const given = read(args, {}, true);
  const topic = topicOf("resume", given);
  await using connection = await connected(io, given.values);
  const { store } = connection;
  if ((await store.resume?.(topic)) !== true) {
    io.note(`${safeText(topic)} is not paused`);
    return 1;
  }
  io.print(given.values.json ? jsonLine({ resumed: topic }) : `${safeText(topic)} is resumed\n`);
  return 0;
};
