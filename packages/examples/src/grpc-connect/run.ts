import { onAbort } from "@holdfast/clock";
import { seededRandom } from "@holdfast/wait/strategies";
import pc from "picocolors";
import { ending } from "../terminal/ending.ts";
import type { Host } from "../terminal/host.ts";
import { type Attempt, type ClientEvent, reduce } from "./attempt.ts";
import { client } from "./client.ts";
import type { Options } from "./options.ts";
import { Peer } from "./peer.ts";
import { isKept, logLine, summaryLines } from "./report.ts";
import { SCRIPT, ScriptedPeer } from "./script.ts";

const WIDTH_OF_A_FILE = 100;
const never = Number.POSITIVE_INFINITY;

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
  const scripted = new ScriptedPeer(peer, SCRIPT);
  await scripted.open();

  const start = clock.monotonic();
  let attempts: readonly Attempt[] = [];
  const report = (event: ClientEvent): void => {
    attempts = reduce(attempts, event);
    const last = attempts.at(-1);
    const line = last && logLine(event, event.at - start, last, pc);
    if (line !== undefined) stdout.write(`${line}\n`);
  };
  const { seed, ...numbers } = options;
  const random = seed === undefined ? undefined : seededRandom(seed);
  await client({ ...numbers, clock, peer, scripted, report, random }, stop);

  const room = stdout.columns ?? WIDTH_OF_A_FILE;
  stdout.write(`\n${summaryLines(attempts, { room, colours: pc }).join("\n")}\n`);
  if (end.signal.aborted) return (await end.request).code;
  return isKept(attempts) ? 0 : 1;
}
