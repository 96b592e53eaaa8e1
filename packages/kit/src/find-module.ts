interface Process {
  getBuiltinModule?(name: string): unknown;
  getActiveResourcesInfo?(): string[];
}

/** The `process` of Node, Deno, Bun and workerd; undefined in a browser. */
export function findProcess(): Process | undefined {
  return (globalThis as { readonly process?: Process }).process;
}

/** A module of Node by its name; undefined in a browser. */
export function findModule<Module>(name: string): Module | undefined {
  return findProcess()?.getBuiltinModule?.(name) as Module | undefined;
}
