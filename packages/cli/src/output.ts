import type { Readable } from "node:stream";
import type { Clock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { entrypointProblem } from "./entrypoint.ts";
import { printable } from "./printable.ts";

/** Lines about the tool's own work, on stderr: stdout belongs to the command. */
export interface Output {
  /** Always printed. */
  error(line: string): void;
  /** Left out with `--quiet`. */
  info(line: string): void;
  /** Printed with `--verbose` only. */
  detail(line: string): void;
}

/** Which lines to print. */
export interface OutputOptions {
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

const LONGEST_LINE = 500;

/** @param write - writes one line with its end */
function createOutput(
  write: (line: string) => void,
  { quiet = false, verbose = false }: OutputOptions,
): Output {
  const print = (line: string): void => {
    const safe = printable(line);
    const short = safe.length > LONGEST_LINE ? `${safe.slice(0, LONGEST_LINE)}…` : safe;
    write(`holdfast: ${short}\n`);
  };
  const nothing = (): void => undefined;
  return { error: print, info: quiet ? nothing : print, detail: verbose ? print : nothing };
}

/** Lines on stderr. Says at once why an end of its container or service would not be an orderly one. */
export function openOutput(options: OutputOptions): Output {
  const output = createOutput((line) => process.stderr.write(line), options);
  const problem = entrypointProblem();
  if (problem !== undefined) output.error(problem);
  return output;
}

// ── Readers ──

/** How long a reader that has stopped reading may keep a command that was told to end, in milliseconds. */
const LAST_WAIT = 1_000;
/** Pace at which the output is looked at when a command has ended, in milliseconds. */
const PACE = 20;
let patience = Number.POSITIVE_INFINITY;
const relays = new Set<Relay>();

/** Tells that a signal or a time limit ends the command: its readers are not waited for without limit then. */
export function hurry(): void {
  patience = LAST_WAIT;
}

/** Resolves when the readers have all that was printed, and all that waited for them. */
export async function flushed(clock: Clock): Promise<void> {
  // A stream that has just been resumed is read before the next look.
  const looks = relays.size === 0 ? 1 : 2;
  let quiet = 0;
  const isFlushed = (): boolean => {
    const isWaiting = [...relays].some((relay) => relay.isWaiting);
    const left = process.stdout.writableLength + process.stderr.writableLength;
    quiet = isWaiting || left > 0 ? 0 : quiet + 1;
    return quiet >= looks;
  };
  const isDone = poll(isFlushed, { backoff: { duration: PACE }, clock });
  await Promise.race([isDone, clock.sleep(patience)]);
}

/**
 * Passes streams on to stdout or stderr, at the pace of its reader.
 *
 * It has one listener, however many streams wait for the reader.
 */
export class Relay {
  readonly #target: NodeJS.WriteStream;
  readonly #paused = new Set<Readable>();

  constructor(target: NodeJS.WriteStream) {
    this.#target = target;
    const resume = (): void => {
      for (const source of this.#paused) source.resume();
      this.#paused.clear();
    };
    target.on("drain", resume).on("error", resume);
    relays.add(this);
  }

  /** Whether a stream waits for the reader. */
  get isWaiting(): boolean {
    return this.#paused.size > 0;
  }

  /** Writes what a stream has brought. The stream is read no further until the reader has it. */
  write(text: string | Buffer, source: Readable): void {
    if (this.#target.write(text)) return;
    source.pause();
    this.#paused.add(source);
  }
}
