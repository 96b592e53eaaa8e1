import { type Clock, realClock } from "@holdfast/clock";
import { defaultLogger, type Logger } from "@holdfast/controller";

import { type Kinds, loopClock, read } from "@holdfast/kit";
import { anyLogger } from "../kinds.ts";

export const TRANSPORT_OPTIONS: Kinds<TransportOptions> = {
  clock: loopClock,
  logger: anyLogger,
};

/** Options that all transports share. */
export interface TransportOptions {
  /**
   * Measures the age of the credentials.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Receives warnings.
   *
   * @defaultValue warnings and errors on the console; for `inCluster` as in `runOperator`
   */
  readonly logger?: Logger | undefined;
}

/** @throws RangeError or TypeError that names the option */
export function resolveTransport<Options extends TransportOptions>(
  options: Options,
  door: string,
  kinds: Kinds<NoInfer<Options>>,
  standard: Logger = defaultLogger,
): Options & { clock: Clock; logger: Logger } {
  const given = read("options", options, door, kinds);
  const { clock = realClock, logger = standard } = given;
  return { ...given, clock, logger };
}
