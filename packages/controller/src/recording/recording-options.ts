import {
  above,
  count,
  func,
  type Kinds,
  kind,
  requireArray,
  required,
  requireFunction,
  text,
} from "@holdfast/kit";

/** The values that each option of {@link RecordingOptions} may have, for a program that offers them. */
export const RECORDING_OPTIONS: Kinds<RecordingOptions> = {
  directory: required(text),
  maxBytes: count,
  segmentBytes: count,
  segmentTime: above(0),
  flushInterval: above(0),
  grid: above(0),
  redact: func,
  derive: kind("derivations", requireDerivations),
};

/** Options of a recording. */
export interface RecordingOptions {
  /** Directory of the files. It is made if it is missing. */
  readonly directory: string;

  /**
   * Bytes on disk of all recordings of this name in the directory: the oldest segments are deleted. The segment that is written
   * counts when it is complete.
   *
   * @defaultValue `268_435_456`, 256 MiB
   */
  readonly maxBytes?: number | undefined;

  /**
   * Bytes on disk after which the next segment begins, without those of the snapshot of the segment, which are a lower bound.
   *
   * @defaultValue `8_388_608`, 8 MiB
   */
  readonly segmentBytes?: number | undefined;

  /**
   * Milliseconds after which the next segment begins, if the lines of this one take as many bytes as its snapshot.
   *
   * @defaultValue `600_000`, ten minutes
   */
  readonly segmentTime?: number | undefined;

  /**
   * Milliseconds between two writes: a process that is killed loses as much.
   *
   * @defaultValue `1_000`
   */
  readonly flushInterval?: number | undefined;

  /**
   * Resolution of the clock of the recorded program, in milliseconds: a read that is later than the latest input by as
   * much costs a line.
   *
   * @defaultValue `2`
   */
  readonly grid?: number | undefined;

  /**
   * Returns the part of an object that is kept; `undefined` keeps nothing of it. Objects of requests and of responses come
   * here, Secrets with their values replaced.
   *
   * @defaultValue objects are kept as they are
   */
  readonly redact?: ((object: unknown) => unknown) | undefined;

  /**
   * Functions that a program makes texts of secrets with, for example a hash of its own: their results are replaced too.
   *
   * @defaultValue none: base64, MD5 and SHA digests are known
   */
  readonly derive?: readonly ((secret: string) => string)[] | undefined;
}

function requireDerivations(path: string, derive: readonly unknown[]): void {
  requireArray(path, derive);
  for (const [at, one] of derive.entries()) requireFunction(`${path}[${at}]`, one);
}
