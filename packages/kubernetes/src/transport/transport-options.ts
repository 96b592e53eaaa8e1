import { type Clock, realClock } from "@holdfast/clock";
import { defaultLogger, type Logger } from "@holdfast/controller";
import { type OptionNames, requireClock, requireMethods, requireOptions } from "@holdfast/kit";
import { LOGGER } from "../logger.ts";

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

/** @throws TypeError that names the option */
export function resolveTransport<Options extends TransportOptions>(
  options: Options,
  door: string,
  names: OptionNames<Options>,
  standard: Logger = defaultLogger,
): { clock: Clock; logger: Logger } {
  requireOptions("options", options, door, names);
  const { clock = realClock, logger = standard } = options;
  requireMethods("options.clock", clock, ["monotonic"]);
  requireClock("options.clock", clock);
  requireMethods("options.logger", logger, LOGGER);
  return { clock, logger };
}
