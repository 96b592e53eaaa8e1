// The guides by reader: who makes a call, runs a service or writes an operator; each section in reading order. A guide that is not listed fails the build.
import { readdirSync } from "node:fs";

const decisions = readdirSync(new URL("../../docs/adr/", import.meta.url))
  .filter((name) => /^\d.*\.md$/.test(name))
  .sort()
  .map((name) => `docs/adr/${name}`);

/** @typedef {{ title: string, pages: string[] }} Section */

/** @type {Section[]} paths from the root of the repository */
export const contents = [
  {
    title: "Start here",
    pages: ["README.md", "docs/getting-started.md"],
  },
  {
    title: "Make a call",
    pages: [
      "docs/retrying-and-polling.md",
      "docs/http-with-fetch.md",
      "docs/backing-off.md",
      "docs/choosing-a-delay.md",
      "docs/choosing-jitter.md",
      "docs/rate-limits.md",
      "docs/circuit-breaker.md",
      "docs/database-transactions.md",
      "docs/wait-for-a-service.md",
      "docs/retry-a-command.md",
      "docs/with-rxjs.md",
    ],
  },
  {
    title: "Run a service",
    pages: [
      "docs/running-in-production.md",
      "docs/graceful-shutdown.md",
      "docs/outbox.md",
      "docs/outbox-orms.md",
      "docs/outbox-command.md",
      "docs/work-queue.md",
      "docs/controller.md",
      "docs/leader-election.md",
      "docs/several-replicas.md",
      "docs/scheduled-jobs.md",
      "docs/run-processes.md",
      "docs/metrics.md",
      "docs/security.md",
      "docs/how-far-it-goes.md",
    ],
  },
  {
    title: "Write an operator",
    pages: [
      "docs/first-operator.md",
      "docs/authoring-an-operator.md",
      "docs/using-the-client.md",
      "docs/status-conditions-events-finalizers.md",
      "docs/webhooks.md",
      "docs/versions-and-webhooks.md",
      "docs/upgrading-the-crd.md",
      "docs/operating-an-operator.md",
    ],
  },
  {
    title: "Test it",
    pages: [
      "docs/testing-with-the-fake-clock.md",
      "docs/test-runners.md",
      "docs/testing-an-operator.md",
      "docs/finding-the-crash.md",
      "docs/proving-an-upgrade.md",
      "docs/from-an-incident-to-a-test.md",
    ],
  },
  {
    title: "Look it up",
    pages: ["docs/errors.md", "docs/troubleshooting.md", "docs/runtimes.md", "docs/comparison.md"],
  },
  {
    title: "Coming from",
    pages: [
      "docs/coming-from-p-retry.md",
      "docs/coming-from-go.md",
      "docs/coming-from-go-clock.md",
      "docs/coming-from-go-wait.md",
      "docs/coming-from-go-controller.md",
      "docs/coming-from-go-kubernetes.md",
    ],
  },
  {
    title: "Examples",
    pages: [
      "packages/examples/README.md",
      "packages/examples/src/dns-sync/README.md",
      "packages/examples/src/outbox/README.md",
      "packages/examples/src/grpc-connect/README.md",
      "packages/examples/src/herd/README.md",
      "packages/examples/src/ethernet/README.md",
      "docs/ethernet.md",
    ],
  },
  {
    title: "Project",
    pages: [
      "CHANGELOG.md",
      "ARCHITECTURE.md",
      "CONTRIBUTING.md",
      "SECURITY.md",
      "CODE_OF_CONDUCT.md",
      "docs/mutation.md",
      "bench/README.md",
      "conformance/README.md",
      "packages/fake-apiserver/conformance/README.md",
    ],
  },
  { title: "Decisions", pages: ["docs/adr/README.md", ...decisions] },
];

/** Pages with a place of their own in the header and the sidebar. */
export const PLAYGROUND = "docs/site/playground.md";
export const GUIDES = "docs/site/guides.md";

/** Titles that differ from the first heading. */
export const titles = new Map([["README.md", "Overview"]]);
