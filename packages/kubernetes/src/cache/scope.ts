import type { ObjectName } from "../object/object-ref.ts";
import {
  type FieldSelector,
  type LabelSelector,
  matchesField,
  matchesLabels,
} from "../object/selector.ts";
import type { ServerObject } from "../object/server-object.ts";

/** Options for a {@link Scope}. */
export interface ScopeOptions {
  readonly namespace: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** Which objects of a resource a cache holds. */
export class Scope {
  /** Whether it is known here which objects match. Only the server can evaluate most fields. */
  readonly isKnown: boolean;
  readonly #options: ScopeOptions;

  constructor(options: ScopeOptions) {
    this.#options = options;
    this.isKnown = Object.keys(options.fields).every(
      (field) => field === "metadata.name" || field === "metadata.namespace",
    );
  }

  /** Whether the name matches; the labels may not. */
  coversName({ name, namespace = "" }: ObjectName): boolean {
    const { fields, namespace: own = namespace } = this.#options;
    const { "metadata.name": wanted = name, "metadata.namespace": within = namespace } = fields;
    return namespace === own && matchesField(within, namespace) && matchesField(wanted, name);
  }

  covers({ metadata }: ServerObject): boolean {
    return this.coversName(metadata) && matchesLabels(this.#options.labels, metadata.labels);
  }
}
