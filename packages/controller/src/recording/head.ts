import { open } from "node:fs/promises";
import { constants, gunzipSync } from "node:zlib";
import type { Line } from "./tape.ts";

/** Version of the format. */
export const FORMAT = 1;

/** End of the names of all segments. */
export const SUFFIX = ".flight.gz";

/** Ends each line, and each body. */
export const NEWLINE = 10;

/** The package whose version each head has. */
export const CONTROLLER = "@holdfast/controller";

/** How a file is read that may have been cut. */
export const UP_TO_THE_CUT: { readonly finishFlush: number } = {
  finishFlush: constants.Z_SYNC_FLUSH,
};

/** The bytes of a segment that have its head. */
const BEGIN = 65_536;

/** The first line of each segment. */
export interface Head extends Line {
  /** Always `"head"`. */
  readonly k: "head";
  /** The version of the format. */
  readonly v: number;
  /** The versions of the packages that have recorded it. */
  readonly library?: Readonly<Record<string, string | undefined>>;
  /** The name of the program. */
  readonly name: string;
  /** The name of the process. */
  readonly identity: string;
  /** The number of the segment, from 1. */
  readonly segment: number;
  /** The seed of the chance of the program. */
  readonly seed: number;
  /** The monotonic time at its start, in milliseconds. */
  readonly mono: number;
  /** The wall clock minus the monotonic one, in milliseconds. */
  readonly wall: number;
  /** The milliseconds from which a later read of the clock is noted. */
  readonly grid: number;
  /** What a replay must know beside the inputs. */
  readonly program: unknown;
}

/**
 * The head of a segment. Undefined if there is none, or no file: the process was killed before, or the file is damaged or
 * gone. The name of a file does not tell: `dns-sync-a-000001` may be of `dns`, or of `dns-sync`.
 */
export async function headOf(path: string): Promise<Head | undefined> {
  const handle = await open(path).catch(() => undefined);
  try {
    const { buffer, bytesRead } = (await handle?.read(Buffer.alloc(BEGIN), 0, BEGIN, 0)) ?? {};
    const text = gunzipSync((buffer as Buffer).subarray(0, bytesRead), UP_TO_THE_CUT).toString();
    const head = JSON.parse(text.slice(0, text.indexOf("\n"))) as Line;
    return head.k === "head" ? (head as Head) : undefined;
  } catch {
    return undefined;
  } finally {
    await handle?.close();
  }
}
