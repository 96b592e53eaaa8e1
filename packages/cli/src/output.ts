import { accessSync, constants, fstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { type Clock, onAbort, type Timer } from "@holdfast/clock";
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
/** How much of our lines waits for a reader, in bytes. */
const MOST_WAITING = 1_000_000;

/**
 * @param target - the lines that it cannot take any more are counted, and it gets their number
 */
export function createOutput(
  target: Writable,
  { quiet = false, verbose = false }: OutputOptions,
): Output {
  let left = 0;
  const tell = (): void => {
    target.write(`holdfast: ${left} lines left out here: nobody read them\n`);
    left = 0;
  };
  const print = (line: string): void => {
    if (target.writableLength > MOST_WAITING) {
      left++;
      if (left === 1) target.once("drain", tell);
      return;
    }
    const safe = printable(line);
    const short = safe.length > LONGEST_LINE ? `${safe.slice(0, LONGEST_LINE)}…` : safe;
    target.write(`holdfast: ${short}\n`);
  };
  const nothing = (): void => undefined;
  return { error: print, info: quiet ? nothing : print, detail: verbose ? print : nothing };
}

/** Lines on stderr. Says at once why an end of its container or service would not be an orderly one. */
export function openOutput(options: OutputOptions): Output {
  const output = createOutput(process.stderr, options);
  const problem = entrypointProblem();
  if (problem !== undefined) output.error(problem);
  return output;
}

// ── Readers ──

/**
 * Lets the writes to terminals wait beside this program, as those to pipes do. Node makes them block: a terminal that
 * has stopped, by Ctrl-S or with its window, would keep signals, restarts and probes waiting.
 *
 * A terminal that this user may not open, as after `su`, is left as it is: others share its state.
 */
export function unblockTerminals(): void {
  const { stdout, stderr } = process;
  const terminals = [stdout, stderr].filter(({ isTTY, fd }) => isTTY && isOpenable(fd));
  for (const stream of terminals) {
    const { _handle } = stream as { readonly _handle?: Partial<TerminalHandle> };
    _handle?.setBlocking?.(false);
  }
  // With a stream of its own, a line would go into the middle of one that waits.
  if (terminals.length === 2 && isSame(fstatSync(stdout.fd), fstatSync(stderr.fd)))
    Object.defineProperty(process, "stderr", { value: stdout });
}

/** The part of Node's handle of a terminal that no public property has. */
interface TerminalHandle {
  setBlocking(isBlocking: boolean): void;
}

/** Whether Node has opened a terminal for itself, which it does if it can. Known on Linux. */
function isOpenable(fd: number): boolean {
  if (process.platform !== "linux") return true;
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    accessSync(path, constants.R_OK | constants.W_OK);
    return isSame(statSync(path), fstatSync(fd));
  } catch {
    return false;
  }
}

function isSame(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** How long a reader that has stopped reading may keep a command that was told to end, in milliseconds. */
const LAST_WAIT = 1_000;
/** Pace at which the output is looked at when a command has ended, in milliseconds. */
const PACE = 20;
const hurried = new AbortController();
const relays = new Set<Relay>();

/** Tells that a signal or a time limit ends the command: its readers are not waited for without limit then. */
export function hurry(): void {
  hurried.abort();
}

/** Tells it after a time, which may be over when nothing but a reader is left to wait for. */
export function hurryAfter(time: number, clock: Clock): void {
  clock.afterFunc(time, hurry, { ref: false, label: "end of the wait for readers" });
}

/**
 * Resolves with true when the readers have all that was printed, and all that waited for them; with false when they are
 * waited for no longer.
 */
export async function flushed(clock: Clock): Promise<boolean> {
  // A stream that has just been resumed is read before the next look.
  const looks = relays.size === 0 ? 1 : 2;
  let quiet = 0;
  const isFlushed = (): boolean => {
    const isWaiting = [...relays].some((relay) => relay.isWaiting);
    const left = process.stdout.writableLength + process.stderr.writableLength;
    quiet = isWaiting || left > 0 ? 0 : quiet + 1;
    return quiet >= looks;
  };
  const end = new AbortController();
  let timer: Timer | undefined;
  using _ = onAbort(hurried.signal, () => {
    timer = clock.afterFunc(LAST_WAIT, () => end.abort());
  });
  try {
    await poll(isFlushed, { interval: PACE, clock, signal: end.signal });
    return true;
  } catch {
    return false;
  } finally {
    timer?.stop();
  }
}

/** How many streams may wait for a reader. */
const MOST_STREAMS = 500;

/**
 * Passes streams on to stdout or stderr, at the pace of its reader.
 *
 * It has one listener, however many streams wait for the reader. A process that crashes leaves a stream that waits:
 * once there are {@link MOST_STREAMS}, the reader gets the number of bytes in place of more output.
 */
export class Relay {
  readonly #target: Writable;
  readonly #paused = new Set<Readable>();
  /** Bytes that no reader gets. */
  #left = 0;

  constructor(target: Writable) {
    this.#target = target;
    const resume = (): void => {
      if (this.#left > 0)
        target.write(`holdfast: ${this.#left} bytes left out here: nobody read them\n`);
      this.#left = 0;
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
    if (this.#paused.size >= MOST_STREAMS) {
      this.#left += Buffer.byteLength(text);
      return;
    }
    if (this.#target.write(text)) return;
    source.pause();
    this.#paused.add(source);
  }
}
