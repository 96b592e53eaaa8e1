// For the tests on a real Kubernetes API server; `npm run test:cluster` sets the variables.
import { test } from "vitest";

/** Whether tests may start servers of their own: not if KUBECONFIG names another cluster. */
export const isOwnServer: boolean = process.env["HOLDFAST_FOREIGN_CLUSTER"] === undefined;

/** `test`, for what kills a server, rotates its tokens or changes its history. Does not run on another cluster. */
export const ownServerTest: ReturnType<typeof test.skipIf> = test.skipIf(!isOwnServer);
