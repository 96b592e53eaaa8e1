import { AsyncLocalStorage } from "node:async_hooks";
import { onTestFinished } from "vitest";

/** A store of the test that calls this. Left in use, it would make every promise of the worker dearer. */
export function contextStore(): AsyncLocalStorage<string> {
  const store = new AsyncLocalStorage<string>();
  onTestFinished(() => store.disable());
  return store;
}
