// The macros of CEL that Kubernetes has, and the library has not or reads differently.
import type { Environment, Optional } from "@marcbachmann/cel-js";

// biome-ignore lint/suspicious/noExplicitAny: the library has no types for its syntax trees
type Untyped = any;

/** Evaluates a body of a macro. */
type Body = () => Untyped;

/** What a macro makes of a value and its bodies. `bind` gives the variables their values. */
type Fold = (value: Untyped, bind: (...values: Untyped[]) => Body[]) => Untyped;

/** A macro with variables in front of its bodies, as in `list.all(i, v, v > i)`. */
function withVariables(count: number, type: string, fold: Fold) {
  return ({ receiver, args }: Untyped): Untyped => {
    const names: Untyped[] = args.slice(0, count);
    const bodies: Untyped[] = args.slice(count);
    let contexts: Untyped[] = [];
    return {
      typeCheck(checker: Untyped, _: Untyped, context: Untyped): Untyped {
        checker.check(receiver, context);
        let inner = context;
        contexts = names.map((name) => {
          if (name.op !== "id") throw new Error("a variable of a macro must be a name");
          inner = inner.forkWithVariable(name.args, checker.dynType);
          return inner;
        });
        for (const body of bodies) checker.check(body, inner);
        return checker.getType(type);
      },
      evaluate(evaluator: Untyped, _: Untyped, context: Untyped): Untyped {
        return fold(evaluator.run(receiver, context), (...values) => {
          let inner = context;
          for (const [index, one] of contexts.entries())
            inner = one.reuse(inner).setIterValue(values[index], evaluator);
          return bodies.map((body) => () => evaluator.run(body, inner));
        });
      },
    };
  };
}

/** Index and item of a list, key and value of a map. */
function entriesOf(value: Untyped): [Untyped, Untyped][] {
  if (Array.isArray(value)) return value.map((item, index) => [BigInt(index), item]);
  return value instanceof Map ? [...value] : Object.entries(value);
}

function isTrue(body: Body | undefined): boolean {
  const value = body?.();
  if (typeof value !== "boolean") throw new Error("no such overload: the predicate is no bool");
  return value;
}

/** Whether a predicate has a result for some entry. An error counts only if it has it for none. */
function some(value: Untyped, bind: Parameters<Fold>[1], wanted: boolean): boolean {
  const failures: unknown[] = [];
  for (const [key, item] of entriesOf(value)) {
    try {
      if (isTrue(bind(key, item)[0]) === wanted) return true;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new Error("no entry decides", { cause: failures[0] });
  return false;
}

/** The results of the last body for the entries, for which the first of two bodies is true. */
function transformed(value: Untyped, bind: Parameters<Fold>[1]): [Untyped, Untyped][] {
  return entriesOf(value).flatMap(([key, item]): [Untyped, Untyped][] => {
    const bodies = bind(key, item);
    if (bodies.length > 1 && !isTrue(bodies[0])) return [];
    return [[key, bodies.at(-1)?.()]];
  });
}

function merged(value: Untyped, bind: Parameters<Fold>[1]): Map<Untyped, Untyped> {
  const all = new Map<Untyped, Untyped>();
  for (const [key, item] of transformed(value, bind).flatMap(([, entry]) => entriesOf(entry))) {
    if (all.has(key)) throw new Error(`insert failed: key ${key} already exists`);
    all.set(key, item);
  }
  return all;
}

function one(value: Untyped, bind: Parameters<Fold>[1]): boolean {
  return entriesOf(value).filter(([key, item]) => isTrue(bind(key, item)[0])).length === 1;
}

function sortedBy(value: Untyped, bind: Parameters<Fold>[1]): Untyped[] {
  return entriesOf(value)
    .map(([, item]): [Untyped, Untyped] => [bind(item)[0]?.(), item])
    .sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([, item]) => item);
}

/** `has(e.f)`, where `e` may be any expression. */
function presence(optional: typeof Optional) {
  return ({ args: [node] }: Untyped): Untyped => ({
    typeCheck(checker: Untyped, _: Untyped, context: Untyped): Untyped {
      if (node.op !== "." && node.op !== ".?")
        throw checker.createError("invalid_macro_argument", "has() invalid argument", node);
      checker.check(node, context);
      return checker.getType("bool");
    },
    evaluate(evaluator: Untyped, _: Untyped, context: Untyped): Untyped {
      const [operand, name] = node.args;
      let object = evaluator.run(operand, context);
      if (object instanceof optional) {
        if (!object.hasValue()) return false;
        object = object.value();
      }
      return evaluator.debugType(object).fieldLazy(object, name, node, evaluator) !== undefined;
    },
  });
}

/**
 * Gives an environment the macros of Kubernetes.
 *
 * @param own - the name under which a function of the library is replaced
 */
export function addMacros(
  environment: Environment,
  optional: typeof Optional,
  own: (name: string) => string,
): void {
  const isNone = (value: Untyped): boolean => !value.hasValue();
  const macros: Readonly<Record<string, Untyped>> = {
    [`${own("has")}(ast): bool`]: presence(optional),
    "list.all(ast, ast, ast): bool": withVariables(
      2,
      "bool",
      (value, bind) => !some(value, bind, false),
    ),
    "list.exists(ast, ast, ast): bool": withVariables(2, "bool", (value, bind) =>
      some(value, bind, true),
    ),
    "list.existsOne(ast, ast, ast): bool": withVariables(2, "bool", one),
    "list.sortBy(ast, ast): list<dyn>": withVariables(1, "list<dyn>", sortedBy),
    "optional.optMap(ast, ast): optional": withVariables(1, "optional", (value, bind) =>
      isNone(value) ? value : optional.of(bind(value.value())[0]?.()),
    ),
    "optional.optFlatMap(ast, ast): optional": withVariables(1, "optional", (value, bind) =>
      isNone(value) ? value : bind(value.value())[0]?.(),
    ),
  };
  const transforms: Readonly<Record<string, Fold>> = {
    "transformList list<dyn>": (value, bind) => transformed(value, bind).map(([, item]) => item),
    "transformMap map<dyn, dyn>": (value, bind) => new Map(transformed(value, bind)),
    "transformMapEntry map<dyn, dyn>": merged,
  };
  for (const [signature, macro] of Object.entries(macros))
    environment.registerFunction(signature, macro);
  for (const [signature, fold] of Object.entries(transforms)) {
    const [name, type] = signature.split(/ (.*)/s) as [string, string];
    for (const parameters of ["ast, ast, ast", "ast, ast, ast, ast"])
      environment.registerFunction(
        `list.${name}(${parameters}): ${type}`,
        withVariables(2, type, fold),
      );
  }
}
