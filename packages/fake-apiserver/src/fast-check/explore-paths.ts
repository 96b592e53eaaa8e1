import type { FakeClock } from "@holdfast/clock/testing";
import {
  findByCode,
  func,
  type Kinds,
  methods,
  positive,
  read,
  required,
  text,
  whole,
} from "@holdfast/kit";

import { resourceName } from "@holdfast/kit/kubernetes";

import {
  isApiError,
  type KubeClient,
  type KubeObject,
  type OperatorSetup,
  type Resource,
  type Webhook,
} from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { isEqual, own } from "../object/json.ts";
import { anyResource, resourceList, webhookList } from "../server/kinds.ts";
import type { NormalForm } from "../server/normal-form.ts";
import { differenceOf } from "./difference.ts";
import { PathProblem, PathWorld, type PathWorldOptions } from "./path-world.ts";
import { type SpecOf, specsOf } from "./specs-of.ts";

const CODE = "ERR_KUBERNETES_PATH";

const arbitrary = methods("generate", "shrink");

export const PATH_OPTIONS: Kinds<PathOptions<never>> = {
  setup: required(func),
  resource: required(anyResource),
  resources: resourceList,
  webhooks: webhookList,
  specs: arbitrary,
  invalid: arbitrary,
  prepare: func,
  normalise: func,
  quiet: positive,
  maxLength: whole(1),
  runs: whole(1),
  seed: whole(0),
  path: text,
};

/** Options for {@link explorePaths}. */
export interface PathOptions<T extends KubeObject> {
  /** The operator, as `runOperator` gets it. */
  readonly setup: OperatorSetup;

  /** The resource whose specs are drawn. */
  readonly resource: Resource<T>;

  /**
   * Other resources of the operator: of its children, and those that it reads.
   *
   * @defaultValue none
   */
  readonly resources?: readonly Resource[] | undefined;

  /**
   * Admission webhooks, which the server asks about writes of the operator and about the specs. Those that they refuse belong
   * into `invalid`.
   *
   * @defaultValue none
   */
  readonly webhooks?: readonly Webhook[] | undefined;

  /**
   * Specs that the operator must carry out.
   *
   * @defaultValue `specsOf(resource)`
   */
  readonly specs?: fc.Arbitrary<SpecOf<T>> | undefined;

  /**
   * Specs that the operator, or the server, must refuse. They are put between those of `specs`.
   *
   * @defaultValue none
   */
  readonly invalid?: fc.Arbitrary<unknown> | undefined;

  /**
   * Creates what must be there before the operator starts, by `client`, as a user would.
   *
   * @defaultValue nothing
   */
  readonly prepare?:
    | ((world: { readonly client: KubeClient; readonly clock: FakeClock }) => unknown)
    | undefined;

  /**
   * Changes a copy of an object before it is compared: remove a field that may differ, or return undefined to leave
   * out the object.
   *
   * @defaultValue compares every object of `resource` and `resources`
   */
  readonly normalise?: ((object: KubeObject) => KubeObject | undefined) | undefined;

  /**
   * Time without a write after which the operator counts as quiet, in milliseconds of the fake clock. Above 0.
   *
   * @defaultValue `600_000`
   */
  readonly quiet?: number | undefined;

  /**
   * Greatest number of specs in a path. An integer of at least 1.
   *
   * @defaultValue `4`
   */
  readonly maxLength?: number | undefined;

  /**
   * Number of paths. An integer of at least 1.
   *
   * @defaultValue `100`
   */
  readonly runs?: number | undefined;

  /**
   * Seed of the paths. An integer of at least 0.
   *
   * @defaultValue `1`
   */
  readonly seed?: number | undefined;

  /**
   * The one path to run, as the message of a failure names it.
   *
   * @defaultValue none: `runs` paths
   */
  readonly path?: string | undefined;
}

/** Result of {@link explorePaths}. */
export interface PathsReport {
  /** Number of paths. */
  readonly paths: number;

  /** Number of specs in them. */
  readonly steps: number;
}

/** One step of a path. */
interface Step {
  readonly spec: unknown;
  readonly isValid: boolean;
}

/** Key of the object whose specs are drawn. */
const NAME = "a";

/** The problem at the shortest path that {@link explorePaths} has found. */
export class PathError extends Error {
  override readonly name = "PathError";

  /** Stable across versions and copies of this package. */
  readonly code: "ERR_KUBERNETES_PATH" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_KUBERNETES_PATH" = CODE;
}

/**
 * Whether an error is a {@link PathError}, of this copy of the package or another, or has one among its causes.
 *
 * @param error - anything that was caught
 * @returns true if an exploration has found a path to a problem
 *
 * @example
 * ```ts
 * import { isPathError, PathError } from "@holdfast/fake-apiserver/fast-check";
 *
 * console.log(isPathError(new PathError("a spec fails")), isPathError(new Error("no"))); // => true false
 * ```
 */
export function isPathError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}

/**
 * Leads an operator along paths of specs that nobody thought of, and checks what holds for every level-based
 * operator. A path creates an object with the first spec, replaces it by the others, goes back to the first,
 * and deletes the object.
 *
 * | Check | Fails for example if |
 * | --- | --- |
 * | the operator is quiet after each step | it writes a list in another order each time |
 * | the last spec leads to the state of an object created with it | a field removed from the spec stays in the child |
 * | going back leads to the state of the first spec | a child of another spec is forgotten |
 * | the deletion leads to the state before | a child has no owner reference |
 * | a spec of `invalid` changes nothing but the status, which reports it, unless the server refuses it | half of it is carried out |
 * | a reconcile that keeps failing, or a write that the server refuses, shows in the status | an error is only logged |
 *
 * States are compared without uids, versions, times, generated names, managed fields and Events. Objects whose owners
 * are gone are collected. The operator runs alone, without an election.
 *
 * Needs the package `fast-check`. The same seed gives the same paths.
 *
 * @param options - see {@link PathOptions}
 * @returns the numbers of paths and steps. Rejects with a {@link PathError} that shows the shortest path to a problem
 * and how to run it alone, and with a TypeError or RangeError that names a bad option
 *
 * Source: Acto (SOSP 2023).
 *
 * @example
 * ```ts
 * import { builtIn, fromCrd, type KubeObject, type OperatorContext, ownerReference } from "@holdfast/kubernetes";
 * import { explorePaths } from "@holdfast/fake-apiserver/fast-check";
 *
 * interface GreetingObject extends KubeObject {
 *   spec: { name: string };
 * }
 * const spec = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
 * const openAPIV3Schema = { type: "object", properties: { spec } };
 * const Greeting = fromCrd<GreetingObject>({
 *   apiVersion: "apiextensions.k8s.io/v1",
 *   kind: "CustomResourceDefinition",
 *   spec: {
 *     group: "example.org", scope: "Namespaced", names: { kind: "Greeting", plural: "greetings" },
 *     versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
 *   },
 * });
 * const ConfigMap = builtIn<KubeObject & { data?: { [key: string]: string } }>("v1", "ConfigMap");
 *
 * function greeter({ cluster, client, controller }: OperatorContext) {
 *   const greetings = cluster.watch(Greeting);
 *   return () => [
 *     controller({
 *       name: "greeter",
 *       sources: [greetings.source()],
 *       async reconcile({ key, signal }) {
 *         const greeting = greetings.get(key);
 *         if (greeting === undefined) return;
 *         const { namespace, name } = greeting.metadata;
 *         const ownerReferences = [ownerReference(Greeting, greeting)];
 *         const metadata = { namespace, name: `greeting-${name}`, ownerReferences };
 *         const data = { text: `Hello, ${greeting.spec.name}!` };
 *         await client.apply(ConfigMap, { metadata, data }, { owned: true, signal });
 *       },
 *     }),
 *   ];
 * }
 * const { paths } = await explorePaths({
 *   setup: greeter, resource: Greeting, resources: [ConfigMap], runs: 10,
 * });
 * console.log(paths); // => 10
 * ```
 */
export async function explorePaths<T extends KubeObject>(
  options: PathOptions<T>,
): Promise<PathsReport> {
  const { explorer, steps, runs, seed, path } = resolve(options);
  let count = 0;
  const property = fc.asyncProperty(steps, async (path) => {
    count += path.length;
    await explorer.check(path);
  });
  const details = await fc.check(property, {
    numRuns: runs,
    seed,
    ...(path !== undefined && { path, endOnFailure: true }),
  });
  if (!details.failed) return { paths: details.numRuns, steps: count };
  const { errorInstance } = details;
  const [shortest] = details.counterexample as [readonly Step[]];
  if (!(errorInstance instanceof PathProblem)) throw errorInstance;
  const again = `explorePaths({ …, seed: ${details.seed}, path: ${JSON.stringify(details.counterexamplePath)} })`;
  const lines = [
    `${errorInstance.message}; the shortest path of ${count} steps tried:`,
    ...shortest.map(stepLine),
    "",
    ...errorInstance.details,
    "",
    `again: ${again}`,
  ];
  throw new PathError(lines.join("\n"));
}

function stepLine({ spec, isValid }: Step, index: number): string {
  const verb = index === 0 ? "create" : "replace";
  return `  ${index + 1}. ${verb} with ${isValid ? "" : "the invalid "}${JSON.stringify(spec)}`;
}

function resolve<T extends KubeObject>(options: PathOptions<T>) {
  const given = read("options", options, "explorePaths", PATH_OPTIONS);
  const { setup, resource, resources = [], webhooks, specs, invalid, prepare, normalise } = given;
  const { quiet = 600_000, maxLength = 4, runs = 100, seed = 1, path } = given;
  const explorer = new PathExplorer(resource, {
    setup,
    resources: [resource, ...resources],
    webhooks,
    prepare,
    quiet,
    normalise: normalise as PathWorldOptions["normalise"],
  });
  return {
    explorer,
    steps: stepsOf(specs ?? specsOf(resource), invalid, maxLength),
    runs,
    seed,
    path,
  };
}

/** Paths that begin with a valid spec. */
function stepsOf(
  specs: fc.Arbitrary<unknown>,
  invalid: fc.Arbitrary<unknown> | undefined,
  maxLength: number,
): fc.Arbitrary<readonly [Step, ...Step[]]> {
  const valid = specs.map((spec): Step => ({ spec, isValid: true }));
  const others = invalid?.map((spec): Step => ({ spec, isValid: false }));
  const later = others === undefined ? valid : fc.oneof({ weight: 2, arbitrary: valid }, others);
  return fc
    .tuple(valid, fc.array(later, { maxLength: maxLength - 1 }))
    .map(([first, rest]) => [first, ...rest]);
}

/** Checks paths. */
class PathExplorer {
  readonly #resource: Resource;
  readonly #options: PathWorldOptions;

  /** States of objects that were created with a spec, by the spec. */
  readonly #created = new Map<string, NormalForm>();

  constructor(resource: Resource, options: PathWorldOptions) {
    this.#resource = resource;
    this.#options = options;
  }

  /** @throws PathProblem if the operator does something that it must not do */
  check([first, ...rest]: readonly [Step, ...Step[]]): Promise<void> {
    return PathWorld.play(this.#options, async (world) => {
      await world.settle();
      const before = world.state();
      const walk = new Walk(this.#resource, world);
      await walk.take(first);
      const created = world.state();
      for (const step of rest) await walk.take(step);
      const last = rest.at(-1);
      if (last?.isValid === true)
        requireSame(world.state(), await this.#stateOf(last), "the state depends on the path", {
          left: "after the path",
          right: "if created with the last spec",
        });
      if (last !== undefined) {
        await walk.take(first);
        requireSame(world.state(), created, "going back to the first spec leads elsewhere", {
          left: "after going back",
          right: "at first",
        });
      }
      await walk.delete();
      requireSame(world.state(), before, "the deletion leaves something", {
        left: "after the deletion",
        right: "before the creation",
      });
    });
  }

  /** The state of an object that is created with the spec of a step. */
  async #stateOf(step: Step): Promise<NormalForm> {
    const key = JSON.stringify(step.spec);
    const known = this.#created.get(key);
    if (known !== undefined) return known;
    const state = await PathWorld.play(this.#options, async (world) => {
      await world.settle();
      await new Walk(this.#resource, world).take(step);
      return world.state();
    });
    this.#created.set(key, state);
    return state;
  }
}

/** Leads one object from spec to spec. */
class Walk {
  readonly #resource: Resource<KubeObject & { spec?: unknown }>;
  readonly #world: PathWorld;
  readonly #ref: { readonly name: string; readonly namespace?: string };

  /** Label of the object in a state. */
  readonly #label: string;

  /** The status after the latest spec that was carried out. */
  #status: unknown;

  constructor(resource: Resource, world: PathWorld) {
    this.#resource = resource;
    this.#world = world;
    const isNamespaced = resource.scope === "Namespaced";
    this.#ref = { name: NAME, ...(isNamespaced && { namespace: "default" }) };
    this.#label = `${resourceName(resource)} ${isNamespaced ? "default/" : ""}${NAME}`;
  }

  /** Gives the object the spec of a step, and waits until the operator is quiet. */
  async take(step: Step): Promise<void> {
    const world = this.#world;
    const before = world.state();
    world.begin();
    const isWritten = await this.#write(step);
    await world.settle();
    const after = world.state();
    if (!isWritten) return;
    const status = this.#statusIn(after);
    const isReported = !isEqual(status, this.#status);
    const failures = world.failures();
    if (!step.isValid) this.#requireRefused(before, after, isReported);
    else if (failures.length === 0) this.#status = status;
    else if (!isReported)
      throw new PathProblem("a spec fails, and the status does not tell", failures);
  }

  /** Deletes the object, and waits until the operator is quiet. */
  async delete(): Promise<void> {
    this.#world.begin();
    await this.#world.client.delete(this.#resource, this.#ref);
    await this.#world.settle();
  }

  /** @returns false if the server refuses an invalid spec */
  async #write({ spec, isValid }: Step): Promise<boolean> {
    const { client } = this.#world;
    const resource = this.#resource;
    try {
      const found = await client.find(resource, this.#ref);
      if (found === undefined) await client.create(resource, { metadata: this.#ref, spec });
      else await client.update(resource, { ...found, spec });
      return true;
    } catch (error) {
      if (!isValid && (isApiError(error, "Invalid") || isApiError(error, "BadRequest")))
        return false;
      throw error;
    }
  }

  /** An invalid spec may change the status of its object, and must. */
  #requireRefused(before: NormalForm, after: NormalForm, isReported: boolean): void {
    const others = (state: NormalForm) =>
      new Map([...state].filter(([label]) => label !== this.#label));
    requireSame(others(after), others(before), "an invalid spec is carried out", {
      left: "after it",
      right: "before it",
    });
    if (!isReported) throw new PathProblem("the status does not report an invalid spec", []);
  }

  #statusIn(state: NormalForm): unknown {
    const object = state.get(this.#label);
    return object === undefined ? undefined : own(object, "status");
  }
}

function requireSame(
  left: NormalForm,
  right: NormalForm,
  problem: string,
  sides: { readonly left: string; readonly right: string },
): void {
  const lines = differenceOf(left, right, sides);
  if (lines.length > 0) throw new PathProblem(problem, lines);
}
