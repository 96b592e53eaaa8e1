import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import type { Relay } from "../../output.ts";
import { LogFile } from "./log-file.ts";

/** Options for {@link ProcessOutput}. */
export interface ProcessOutputOptions {
  /** Where each process has a file `NAME.log`; undefined for no files. */
  readonly directory: string | undefined;
  /** Where it is printed; undefined to print nothing. */
  readonly relay: Relay | undefined;
  /** Whether to print the output as it is, without names. */
  readonly raw: boolean;
  /** Receives a log that cannot be written. Its process runs all the same. */
  readonly onProblem: (message: string) => void;
}

const LONGEST_LINE = 16_384;
const KEPT_LINES = 500;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it removes
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** A line that a terminal shows as it is: without escape codes. */
function safe(line: string): string {
  return stripVTControlCharacters(line.replace(/\r$/, "")).replaceAll(CONTROL, "\ufffd");
}

/** A line in parts of the longest length. */
function partsOf(line: string): readonly string[] {
  const count = Math.max(Math.ceil(line.length / LONGEST_LINE), 1);
  return Array.from({ length: count }, (_, index) =>
    line.slice(index * LONGEST_LINE, (index + 1) * LONGEST_LINE),
  );
}

/** Says something: no stack frame, no brace and not the banner of Node.js. */
function saysSomething(line: string): boolean {
  return /^\S/.test(line) && /\p{L}/u.test(line) && !/^Node\.js v/.test(line);
}

/** What one process prints, over all its lives. */
class Lines {
  readonly name: string;
  kept: string[] = [];
  /** Number of `kept` lines that belong to earlier lives. */
  #old = 0;
  #file: LogFile | undefined;

  constructor(name: string, file: LogFile | undefined) {
    this.name = name;
    this.#file = file;
  }

  begin(): void {
    this.#old = this.kept.length;
  }

  add(lines: readonly string[]): void {
    this.kept.push(...lines.slice(-KEPT_LINES));
    const excess = Math.max(this.kept.length - KEPT_LINES, 0);
    this.kept.splice(0, excess);
    this.#old = Math.max(this.#old - excess, 0);
    this.#file?.append(lines.map((line) => `${line}\n`).join(""));
  }

  lastWords(): string | undefined {
    return this.kept.slice(this.#old).findLast(saysSomething);
  }
}

/** Where the output of the processes goes: stdout, files, and the last lines of each. */
export class ProcessOutput {
  readonly #options: ProcessOutputOptions;
  readonly #lines = new Map<string, Lines>();
  /** Width of the longest name so far. */
  #width = 0;

  constructor(options: ProcessOutputOptions) {
    this.#options = options;
  }

  /** Reads the streams of a new life. Resolves when they have ended. */
  async follow(name: string, streams: readonly (Readable | null)[]): Promise<void> {
    const lines = this.#of(name);
    lines.begin();
    await Promise.all(
      streams.flatMap((stream) => (stream === null ? [] : [this.#read(lines, stream)])),
    );
  }

  /** The last line of the current life that is worth showing. */
  lastWords(name: string): string | undefined {
    return this.#lines.get(name)?.lastWords();
  }

  /** The last lines of all lives, at most 500. */
  linesOf(name: string): readonly string[] {
    return this.#lines.get(name)?.kept ?? [];
  }

  #of(name: string): Lines {
    const { directory, onProblem } = this.#options;
    const report = (message: string): void => onProblem(`${name}: ${message}`);
    const file =
      directory === undefined ? undefined : new LogFile(directory, `${name}.log`, report);
    const lines = this.#lines.get(name) ?? new Lines(name, file);
    this.#lines.set(name, lines);
    this.#width = Math.max(this.#width, name.length);
    return lines;
  }

  #read(lines: Lines, stream: Readable): Promise<void> {
    const { raw, relay } = this.#options;
    const decoder = new StringDecoder("utf8");
    let rest = "";
    stream.on("data", (chunk: Buffer) => {
      if (raw) relay?.write(chunk, stream);
      const texts = (rest + decoder.write(chunk)).split("\n");
      rest = texts.pop() ?? "";
      if (rest.length > LONGEST_LINE) {
        const whole = rest.length - (rest.length % LONGEST_LINE);
        texts.push(rest.slice(0, whole));
        rest = rest.slice(whole);
      }
      if (texts.length > 0) this.#add(lines, texts, stream);
    });
    return new Promise((done) => {
      stream.once("error", () => done());
      stream.once("close", () => {
        if (rest !== "") this.#add(lines, [rest], stream);
        done();
      });
    });
  }

  #add(lines: Lines, texts: readonly string[], stream: Readable): void {
    const { relay, raw, directory } = this.#options;
    // A loud process whose output nobody gets must not take the time of the others.
    const isGiven = (relay !== undefined && !raw) || directory !== undefined;
    const parts = (isGiven ? texts : texts.slice(-KEPT_LINES)).flatMap(partsOf).map(safe);
    lines.add(parts);
    if (raw) return;
    const name = lines.name.padEnd(this.#width);
    relay?.write(parts.map((line) => `${name} | ${line}\n`).join(""), stream);
  }
}
