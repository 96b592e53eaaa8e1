/** Binds methods to their object, so that `const { sleep } = clock` works, as with the functions of the platform. */
export function bindMethods<Owner extends object>(
  owner: Owner,
  names: readonly (keyof Owner & string)[],
): void {
  for (const name of names) {
    const method = owner[name] as (...args: never[]) => unknown;
    const value: unknown = method.bind(owner);
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  }
}
