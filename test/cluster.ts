// For the tests on a real Kubernetes API server; `npm run test:cluster` sets the variables.
import { test } from "vitest";

/** Whether tests may start servers of their own: not if KUBECONFIG names another cluster. */
export const isOwnServer: boolean = process.env["HOLDFAST_FOREIGN_CLUSTER"] === undefined;

/**
 * `test`, for a test that starts, kills or configures a server, rotates its tokens or changes its history. On another
 * cluster it does not run, and its name says why.
 *
 * @param timeout - in milliseconds, if that of all is too short
 */
export function ownServerTest(name: string, run: () => Promise<void>, timeout?: number): void {
  if (isOwnServer) test(name, run, timeout);
  else test.skip(`${name} [not run: needs our own API server]`, run);
}
