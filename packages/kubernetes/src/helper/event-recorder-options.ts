import { type Clock, realClock } from "@holdfast/clock";
import { defaultLogger, type Logger } from "@holdfast/controller";
import {
  func,
  type Kinds,
  kind,
  loopClock,
  methods,
  read,
  required,
  requireText,
  text,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import type { KubeClient } from "../client/kube-client.ts";
import { anyLogger } from "../kinds.ts";

export const EVENT_RECORDER_OPTIONS: Kinds<EventRecorderOptions> = {
  client: required(methods("create", "patch")),
  controller: required(kind("controllerName", requireControllerName)),
  instance: text,
  name: text,
  clock: loopClock,
  random: func,
  logger: anyLogger,
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
  const given = read("options", options, "EventRecorder", EVENT_RECORDER_OPTIONS);
  const { client, controller, instance = controller, name = "events", clock = realClock } = given;
  const { random, logger = defaultLogger } = given;
  return { client, controller, instance, name, clock, random, logger };
}

function requireControllerName(path: string, controller: string): void {
  requireText(path, controller);
  if (!CONTROLLER.test(controller))
    throw new RangeError(
      `${path} must be a name such as "greeter" or "example.org/greeter", got ${JSON.stringify(controller.slice(0, 300))}`,
    );
}
