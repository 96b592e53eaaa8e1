import { onAbort } from "@holdfast/clock";
import { seededRandom } from "@holdfast/wait";
import pc from "picocolors";
import { ending } from "../terminal/ending.ts";
import type { Host } from "../terminal/host.ts";
import { type Attempt, reduce } from "./attempt.ts";
import { client } from "./client.ts";
import type { ClientEvent } from "./event.ts";
import type { Options } from "./options.ts";
import { Peer } from "./peer.ts";
import { SCRIPT } from "./script.ts";
import { Stage } from "./stage.ts";
import { LiveView } from "./view/live-view.ts";
import { LogView } from "./view/log-view.ts";
import { isKept, summaryLines } from "./view/summary.ts";
import type { View } from "./view/view.ts";

const WIDTH_OF_A_FILE = 100;
const never = Number.POSITIVE_INFINITY;

function createView({ clock, stdout }: Host, start: number): View {
  if (stdout.isTTY && process.env["TERM"] !== "dumb")
    return new LiveView({ clock, stream: stdout, colours: pc, start });
  const room = stdout.columns ?? WIDTH_OF_A_FILE;
  return new LogView({ clock, write: (text) => stdout.write(text), colours: pc, start, room });
}

/**
 * Plays the script from beginning to summary.
 *
 * @returns the exit code: 0 if the protocol was kept to, 1 if not, 128 and more for a signal that came
 * before the end
 */
export async function run(options: Options, host: Host): Promise<number> {
  const { clock, stdout } = host;
  await using peer = await Peer.open();
  using end = ending(host, { duration: never, kill: () => peer.kill() });
  const stop = new AbortController();
  using _ending = onAbort(end.signal, () => stop.abort());
  const stage = new Stage(peer, SCRIPT);
  await stage.open();

  const view = createView(host, clock.monotonic());
  let attempts: readonly Attempt[] = [];
  const report = (event: ClientEvent): void => {
    attempts = reduce(attempts, event);
    view.show(event, attempts);
  };
  const { seed, ...numbers } = options;
  const random = seed === undefined ? undefined : seededRandom(seed);
  await client({ ...numbers, clock, peer, stage, report, random }, stop);
  view.close();

  const room = stdout.columns ?? WIDTH_OF_A_FILE;
  stdout.write(`\n${summaryLines(attempts, { room, colours: pc }).join("\n")}\n`);
  if (end.signal.aborted) return (await end.request).code;
  return isKept(attempts) ? 0 : 1;
}
