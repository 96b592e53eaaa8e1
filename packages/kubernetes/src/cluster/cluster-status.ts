import type { ReflectorStatus } from "../reflect/reflector-status.ts";

/** Status of an informer. */
export interface InformerStatus {
  /** Plural of its resource with its group, for example `deployments.apps`. */
  readonly resource: string;
  /** Whether the first list of each of its namespaces is complete. */
  readonly hasSynced: boolean;
  /** Number of cached objects. */
  readonly size: number;
  /** Its lists and watches: one, or one per namespace. */
  readonly reflectors: readonly ReflectorStatus[];
}

/** Status of a cluster as plain data: `JSON.stringify` it for a health endpoint. */
export interface ClusterStatus {
  /** Its name. */
  readonly name: string;
  /** Its state. */
  readonly state: "idle" | "running" | "stopping";
  /** Its informers, in the order of their first `watch`. */
  readonly informers: readonly InformerStatus[];
  /**
   * Differences between the CustomResourceDefinitions of an operator and those of its server, by name, for example
   * `greetings.example.org`. Undefined until `compareCrds` of `runOperator` has compared one.
   */
  readonly crdDifferences?: Readonly<Record<string, readonly string[]>>;
}
