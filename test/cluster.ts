// For the tests on a real Kubernetes API server; `npm run test:cluster` sets the variables.
import { test } from "vitest";

/** Whether tests may start servers of their own: not if KUBECONFIG names another cluster. */
export const isOwnServer: boolean = process.env["HOLDFAST_FOREIGN_CLUSTER"] === undefined;

/**
 * `test`, for a test that starts, kills or configures a server, rotates its tokens or changes its history. On another
 * cluster it does not run, and its name says why.
 */
export function ownServerTest(name: string, run: () => Promise<void>): void {
  if (isOwnServer) test(name, run);
  else test.skip(`${name} [not run: needs our own API server]`, run);
}
