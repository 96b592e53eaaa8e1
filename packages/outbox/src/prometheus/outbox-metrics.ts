import { type Kinds, methods, read } from "@holdfast/kit";
import { prometheusSink } from "@holdfast/kit/prometheus";
import { register as globalRegister, type Registry } from "prom-client";
import {
  MEASURED_OUTBOX_OPTIONS,
  MeasuredOutbox,
  type MeasuredOutboxOptions,
} from "../metrics/measured-outbox.ts";

export const OUTBOX_METRICS_OPTIONS: Kinds<OutboxMetricsOptions> = {
  ...MEASURED_OUTBOX_OPTIONS,
  register: methods("registerMetric", "metrics"),
};

/** Options for {@link OutboxMetrics}. */
export interface OutboxMetricsOptions extends MeasuredOutboxOptions {
  /**
   * The registry that is scraped.
   *
   * @defaultValue `register` of prom-client
   */
  readonly register?: Registry | undefined;
}

/**
 * The metrics of {@link MeasuredOutbox} in a registry of prom-client. Make one for a registry; prom-client refuses a
 * second.
 *
 * @example
 * ```ts
 * import { OutboxMetrics } from "@holdfast/outbox/prometheus";
 * import { MemoryStore } from "@holdfast/outbox/testing";
 * import { Registry } from "prom-client";
 *
 * const register = new Registry();
 * const metrics = new OutboxMetrics({ store: new MemoryStore(), register });
 * metrics.onEvent({ type: "removed", count: 250 }); // new Retention({ onEvent: metrics.onEvent, ... })
 * console.log(await register.getSingleMetricAsString("outbox_removed_total"));
 * // => # HELP outbox_removed_total Number of delivered messages that were removed
 * // => # TYPE outbox_removed_total counter
 * // => outbox_removed_total 250
 * ```
 */
export class OutboxMetrics extends MeasuredOutbox {
  /**
   * @param options - see {@link OutboxMetricsOptions}
   * @throws RangeError or TypeError that names the option, Error if the registry has metrics of these names
   */
  constructor(options: OutboxMetricsOptions) {
    const given = read("options", options, "OutboxMetrics", OUTBOX_METRICS_OPTIONS);
    super(prometheusSink(given.register ?? globalRegister), given);
  }
}
