import { func, type Kinds, read, requireMethods } from "@holdfast/kit";

export const STORE_FAULTS: Kinds<StoreFaults> = { before: func, after: func, failed: func };

/** Faults of a {@link faultyStore}. Each receives the name of the request: `"write"` for example. */
export interface StoreFaults {
  /**
   * Runs before the store receives a request. If it throws, the request is lost on its way; if it waits,
   * the request is late.
   *
   * @defaultValue none
   */
  readonly before?: ((request: string) => Promise<void> | void) | undefined;

  /**
   * Runs after the store has responded. If it throws, the response is lost: the change is made, and the
   * caller does not know. If it waits, the response is late.
   *
   * @defaultValue none
   */
  readonly after?: ((request: string) => Promise<void> | void) | undefined;

  /**
   * Receives the errors of the store itself. An error it throws replaces that of the store.
   *
   * @defaultValue none
   */
  readonly failed?: ((request: string, error: unknown) => unknown) | undefined;
}

/**
 * A store behind a connection that fails on request, for tests of programs that use an outbox.
 *
 * Requests are the methods of the store that return a promise. Other members are those of the store.
 *
 * @param store - any store, a `MemoryStore` for example
 * @param faults - see {@link StoreFaults}
 * @returns a store of the same type
 * @throws TypeError that names the argument or the option
 *
 * @example
 * ```ts
 * import { faultyStore, MemoryStore } from "@holdfast/outbox/testing";
 *
 * let isAway = true;
 * const store = faultyStore(new MemoryStore(), {
 *   before: (request) => {
 *     if (isAway) throw new Error(`${request}: the database is away`);
 *   },
 * });
 * await store.backlog().catch(({ message }) => console.log(message)); // => backlog: the database is away
 * isAway = false;
 * console.log(await store.backlog()); // => { pending: 0, retrying: 0, dead: 0 }
 * ```
 */
export function faultyStore<Store extends object>(store: Store, faults: StoreFaults): Store {
  requireMethods("store", store, ["save", "claim"]);
  const { before, after, failed } = read("faults", faults, "faultyStore", STORE_FAULTS);
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name === "statements") return member.bind(target) as unknown; // It sends nothing.
      return async (...args: unknown[]): Promise<unknown> => {
        const request = String(name);
        await before?.(request);
        let response: unknown;
        try {
          response = await (Reflect.apply(member, target, args) as Promise<unknown>);
        } catch (error) {
          failed?.(request, error);
          throw error;
        }
        await after?.(request);
        return response;
      };
    },
  });
}
