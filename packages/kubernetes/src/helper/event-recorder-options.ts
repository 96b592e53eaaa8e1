import { type Clock, realClock } from "@holdfast/clock";
import { defaultLogger, type Logger } from "@holdfast/controller";
import {
  type OptionNames,
  requireClock,
  requireHooks,
  requireMethods,
  requireOptions,
  requireText,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import type { KubeClient } from "../client/kube-client.ts";
import { LOGGER } from "../logger.ts";

const OPTIONS: OptionNames<EventRecorderOptions> = {
  client: true,
  controller: true,
  instance: true,
  name: true,
  clock: true,
  random: true,
  logger: true,
};

// As IsQualifiedName of k8s.io/apimachinery.
const CONTROLLER =
  /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Options for an {@link EventRecorder}. */
export interface EventRecorderOptions {
  /** Client of the API server. */
  readonly client: Pick<KubeClient, "create" | "patch">;

  /** Name of the operator in the events, for example `greeter` or `example.org/greeter`. */
  readonly controller: string;

  /**
   * Name of the process in the events.
   *
   * @defaultValue `controller`
   */
  readonly instance?: string | undefined;

  /**
   * Name in a `Manager` and in log lines.
   *
   * @defaultValue `"events"`
   */
  readonly name?: string | undefined;

  /**
   * Clock for the times in events, and for all delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Source of the part that makes the names of events unique.
   *
   * @defaultValue a random UUID
   */
  readonly random?: Random | undefined;

  /**
   * Receiver of log lines.
   *
   * @defaultValue prints warnings and errors to the console
   */
  readonly logger?: Logger | undefined;
}

/** The options with their defaults. */
export type ResolvedEventRecorderOptions = {
  readonly [Name in Exclude<keyof EventRecorderOptions, "random">]-?: NonNullable<
    EventRecorderOptions[Name]
  >;
} & Pick<EventRecorderOptions, "random">;

/** @throws RangeError or TypeError that names the option */
export function resolveEventRecorder(options: EventRecorderOptions): ResolvedEventRecorderOptions {
  requireOptions("options", options, "EventRecorder", OPTIONS);
  const { client, controller, instance = controller, name = "events", clock = realClock } = options;
  const { random, logger = defaultLogger } = options;
  requireMethods("options.client", client, ["create", "patch"]);
  requireText("options.controller", controller);
  if (!CONTROLLER.test(controller))
    throw new RangeError(
      `options.controller must be a name such as "greeter" or "example.org/greeter", got ${JSON.stringify(controller.slice(0, 300))}`,
    );
  requireText("options.instance", instance);
  requireText("options.name", name);
  requireClock("options.clock", clock);
  requireHooks("options", { random });
  requireMethods("options.logger", logger, LOGGER);
  return { client, controller, instance, name, clock, random, logger };
}
