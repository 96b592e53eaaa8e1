// Each guide as search engines, the search box and the list of guides show it. A guide without an entry fails the build.

/**
 * @typedef {object} Page
 * @property {string} title for search engines: the words that people type
 * @property {string} description one or two sentences
 * @property {string} keywords words of the field that the page answers and may not contain
 */

/** @type {Map<string, Page>} by path from the root of the repository */
export const pages = new Map(
  Object.entries({
    "README.md": {
      title: "Retries, work queues and operators for Node.js",
      description:
        "Retry with exponential backoff, poll, run reconcile loops, elect a leader and write Kubernetes operators in TypeScript. Waits abort at once; tests run on a fake clock.",
      keywords: "overview introduction which function",
    },
    "docs/getting-started.md": {
      title: "Getting started: a tested program in ten minutes",
      description:
        "From npm init to a program that retries, stops on SIGTERM and is tested without waiting.",
      keywords: "install tutorial quick start clone",
    },
    "docs/runtimes.md": {
      title: "Node.js, Deno, Bun, workers and browsers; TypeScript versions",
      description:
        "The runtimes and TypeScript versions that run the suite, and their differences.",
      keywords: "support compatibility deno bun workerd cloudflare browser esm commonjs",
    },
    "docs/comparison.md": {
      title: "Holdfast, p-retry, cockatiel, bree and others compared",
      description: "Features, size and processor time beside the packages people use today.",
      keywords:
        "alternatives benchmark size versus p-retry cockatiel async-retry kubebuilder compare",
    },
    "docs/retrying-and-polling.md": {
      title: "Retry a function in Node.js: retry, poll, timeout, AbortSignal",
      description:
        "Retry with exponential backoff and jitter, poll a condition, limit time, and abort at once.",
      keywords:
        "retry async function exponential backoff poll until condition timeout deadline time limit cancel abort promise AbortSignal maximum attempts give up stop after minutes seconds forever infinite loop slow fail sleep AbortController",
    },
    "docs/http-with-fetch.md": {
      title: "Retry fetch with Retry-After and timeouts",
      description:
        "Which HTTP errors to retry, Retry-After, timeouts, and idempotent POSTs with fetch.",
      keywords:
        "fetch retry http 429 503 idempotency key post Retry-After overall deadline timeout",
    },
    "docs/choosing-a-delay.md": {
      title: "Which retry delay? Recipes for backoff options",
      description: "Recipes: the delay for a database, a busy API, a restart, a connection.",
      keywords:
        "recipes retry interval how long to wait CrashLoopBackOff which backoff options to use",
    },
    "docs/backing-off.md": {
      title: "Exponential backoff and jitter in Node.js",
      description:
        "Choose the first delay, factor, cap and jitter; see the load each choice puts on a recovering server.",
      keywords:
        "exponential backoff with jitter strategy cap factor CrashLoopBackOff keep connection open reconnect gRPC random delay between attempts websocket",
    },
    "docs/choosing-jitter.md": {
      title: "Thundering herd: which jitter helps",
      description: "1,000 clients after an outage, simulated with each form of jitter.",
      keywords: "thundering herd full jitter equal decorrelated retry storm",
    },
    "docs/with-rxjs.md": {
      title: "Retry, repeat and poll rxjs streams with backoff",
      description:
        "Operators for Observables with exponential backoff, on a clock that tests control.",
      keywords: "rxjs observable retry backoff TestScheduler marbles",
    },
    "docs/testing-with-the-fake-clock.md": {
      title: "Test async code that waits: a fake clock in place of fake timers",
      description:
        "`run` moves time whenever your code can only wait: no advanceTimersByTime, no hanging test, exact instants.",
      keywords:
        "fake timers async advanceTimersByTime mock time jest vitest sinon setTimeout test sleep deterministic deadlock Date.now setInterval",
    },
    "docs/test-runners.md": {
      title: "Fake time in vitest, jest, node:test and sinon",
      description: "The fake clock in each test runner, and beside its own fake timers.",
      keywords:
        "jest fake timers vitest useFakeTimers node:test mock timers sinon AbortSignal.timeout",
    },
    "docs/work-queue.md": {
      title: "A de-duplicating work queue for Node.js (client-go workqueue)",
      description:
        "One worker per key at a time, delays, priorities, rate limits, and a drain at shutdown.",
      keywords:
        "work queue deduplicate concurrency limit priority job queue in process semaphore p-queue debounce coalesce",
    },
    "docs/controller.md": {
      title: "Reconcile loops in TypeScript (controller-runtime for Node.js)",
      description:
        "Events become keys; each key is reconciled by one worker at a time and retried with backoff.",
      keywords:
        "reconcile loop desired state level triggered resync requeue concurrency batch work",
    },
    "docs/leader-election.md": {
      title: "Leader election and distributed locks in Node.js",
      description:
        "One active process of several: on a file, PostgreSQL, MySQL, Redis or a Kubernetes Lease, with fencing tokens.",
      keywords:
        "distributed lock mutex redis lock postgres lock leader election fencing token singleton one replica lease failover split brain two pods write at once expired lock servers",
    },
    "docs/several-replicas.md": {
      title: "Divide keys over several replicas in Node.js",
      description:
        "One leader, slots that all replicas share, or the locks of a database: when which, and what a move looks like.",
      keywords:
        "sharding shards partition keys replicas scale out horizontally consistent hash distribute work active active share split work between pods servers tenants",
    },
    "docs/how-far-it-goes.md": {
      title: "How far it goes: objects, events, keys and replicas of a Node.js operator",
      description:
        "Memory and CPU of one process and of the API server at 10,000, 50,000 and 200,000 objects and 1 to 16 replicas, and what to do beyond.",
      keywords:
        "scale scaling limits capacity planning sizing memory heap cpu 100000 objects pods informer how many replicas throughput",
    },
    "docs/running-in-production.md": {
      title: "Start, stop and observe a Node.js service",
      description: "Start in order, stop in reverse, health checks, metrics, logs and tracing.",
      keywords:
        "production docker container opentelemetry tracing health check logger manager start order",
    },
    "docs/rate-limits.md": {
      title: "Rate limit outgoing calls in Node.js, and obey 429",
      description: "A token bucket in front of fetch, Retry-After, and limits of several replicas.",
      keywords:
        "rate limit limiter throttle token bucket 429 too many requests qps bottleneck quota",
    },
    "docs/wait-for-a-service.md": {
      title: "Wait for a port, a URL or a service, in scripts and in Node.js",
      description:
        "holdfast wait for scripts, containers and CI; poll for programs. Starts a server for the time of a test.",
      keywords:
        "wait for a port tcp url service startup wait-on wait-port start-server-and-test docker compose until api database is up ready",
    },
    "docs/retry-a-command.md": {
      title: "Retry a command until it succeeds",
      description:
        "holdfast retry: backoff, jitter, timeouts, exit codes, and attempts that never overlap.",
      keywords: "retry command bash shell script loop exit code flaky test timeout ci",
    },
    "docs/run-processes.md": {
      title: "Run processes from a YAML file and restart them",
      description:
        "holdfast run: dependencies, probes, backoff, logs and edits in place, in development and in a container.",
      keywords:
        "process manager supervisor procfile process-compose pm2 foreman restart crash loop several local processes restarting",
    },
    "docs/circuit-breaker.md": {
      title: "Circuit breaker, bulkhead and fallback beside retry",
      description: "cockatiel's circuit breaker and bulkhead inside retry, and when you need them.",
      keywords: "circuit breaker bulkhead fallback cockatiel opossum resilience policy",
    },
    "docs/database-transactions.md": {
      title: "Retry database transactions: deadlocks and serialization failures",
      description:
        "Which errors of PostgreSQL and MySQL to retry, with which delays, and which never.",
      keywords:
        "retry transaction deadlock serialization failure 40001 40P01 1213 postgres mysql serializable",
    },
    "docs/scheduled-jobs.md": {
      title: "Cron jobs on one of several replicas in Node.js",
      description:
        "A job at 03:00 every day with croner, one leader and a memory of the last run: no day is lost.",
      keywords:
        "cron job croner node-cron schedule scheduled job singleton one replica daily nightly at night 03:00 runs on two servers twice",
    },
    "docs/graceful-shutdown.md": {
      title: "Graceful shutdown of a Node.js service",
      description:
        "SIGTERM: readiness, HTTP server, work in flight, database pool, in order and in time.",
      keywords:
        "graceful shutdown SIGTERM SIGINT terminate drain http server close preStop kubernetes docker ctrl-c exit zero downtime deploy rolling",
    },
    "docs/metrics.md": {
      title: "Prometheus metrics and a Grafana dashboard",
      description: "Every metric with its labels, and a dashboard to import.",
      keywords:
        "prometheus opentelemetry otel metrics grafana dashboard prom-client monitoring workqueue_depth alerts",
    },
    "docs/errors.md": {
      title: "Error codes: cause and cure",
      description: "Each ERR_ code of the packages, its predicate, its cause and its cure.",
      keywords: "error code ERR_ predicate instanceof",
    },
    "docs/troubleshooting.md": {
      title: "Troubleshooting",
      description:
        "Symptoms, causes and cures: hanging tests, processes that exit or do not, two leaders.",
      keywords:
        "faq troubleshooting hang does not exit MaxListenersExceededWarning CrashLoopBackOff two leaders stuck hangs",
    },
    "docs/first-operator.md": {
      title: "Write a Kubernetes operator in TypeScript",
      description:
        "From npm init to a Deployment with RBAC, probes and leader election, with a test that needs no cluster.",
      keywords:
        "kubernetes operator typescript javascript custom resource CRD kubebuilder operator sdk rbac controller informer deploy to cluster",
    },
    "docs/authoring-an-operator.md": {
      title: "Author a custom resource from a zod schema",
      description:
        "One schema gives the TypeScript type, the CustomResourceDefinition, defaults and validation.",
      keywords:
        "crd generator zod arktype json schema custom resource definition openapi cel validation types",
    },
    "docs/using-the-client.md": {
      title: "Use the Kubernetes client",
      description:
        "Watch without a cache, metadata alone, impersonation, quantities, from update to apply, logs and exec.",
      keywords:
        "watch metadata PartialObjectMetadata impersonate quantity server-side apply client-node logs exec port-forward",
    },
    "docs/status-conditions-events-finalizers.md": {
      title: "Status, conditions, Events and finalizers of an operator",
      description:
        "Conditions with observedGeneration, Events, a finalizer for a record outside: a Website operator, tested.",
      keywords:
        "status conditions observedGeneration events finalizer ownerReferences rolling hash annotation ingress subresource update",
    },
    "docs/testing-an-operator.md": {
      title: "Test a Kubernetes operator without a cluster",
      description:
        "A fake API server on a fake clock: conflicts, lost watches and leader changes in a unit test.",
      keywords: "fake api server envtest unit test operator rbac test conflict watch",
    },
    "docs/finding-the-crash.md": {
      title: "Find the crash that breaks your operator",
      description:
        "Every crash, lost response, conflict and late event of a Kubernetes operator, tried in a unit test.",
      keywords:
        "fault injection crash consistency operator test sieve acto orphan stale cache simulate network failure chaos",
    },
    "docs/from-an-incident-to-a-test.md": {
      title: "Record a Kubernetes operator in production, and replay it in a test",
      description:
        "A flight recorder for operators: what enters is kept in a ring of files, and a unit test gives the program the same again.",
      keywords:
        "record replay deterministic debugging incident time travel rr flight recorder reproduce production bug",
    },
    "docs/proving-an-upgrade.md": {
      title: "Prove the upgrade of a Kubernetes operator",
      description:
        "A change from the last release to the new one at every step, and back, with faults, in a unit test.",
      keywords: "operator upgrade rollback test crd migration finalizer rename",
    },
    "docs/upgrading-the-crd.md": {
      title: "Upgrade a CRD and its operator, and roll back",
      description:
        "The order of a roll-out and a roll-back, which changes of a schema are safe, and storedVersions.",
      keywords: "crd upgrade storedVersions field not declared in schema order helm rollback",
    },
    "docs/versions-and-webhooks.md": {
      title: "Versions of a custom resource, and their conversion",
      description:
        "Convert the objects of a CRD between versions, and prove that the conversion loses nothing.",
      keywords: "crd versions conversion webhook hub spoke storage migration round trip",
    },
    "docs/webhooks.md": {
      title: "Admission webhooks of an operator",
      description:
        "Validate and change objects before they are stored, serve the hooks by HTTPS, and rotate certificates without a lost call.",
      keywords:
        "admission webhook validating mutating certificate caBundle kubebuilder pepr failurePolicy",
    },
    "docs/operating-an-operator.md": {
      title: "Run a Kubernetes operator in production",
      description:
        "Readiness, alerts, memory, upgrades, restores of etcd, and read-your-writes caches.",
      keywords:
        "retry on conflict optimistic locking resourceVersion readiness liveness probe health check alerts metrics read your writes stale cache informer memory etcd restore rbac",
    },
    "docs/security.md": {
      title: "Security: listeners, files, tenants and credentials",
      description:
        "The threat model of Holdfast: whom it trusts, default addresses, bounds, and tenants of an operator.",
      keywords:
        "threat model security health port networkpolicy confused deputy tenant webhook ssrf credentials",
    },
    "docs/outbox-orms.md": {
      title: "The outbox with your ORM",
      description:
        "Messages in the transaction of Drizzle, Kysely, Prisma 7, Knex, TypeORM, Sequelize or MikroORM: the code of each, run on a PostgreSQL.",
      keywords: "outbox drizzle kysely prisma knex typeorm sequelize mikroorm transaction",
    },
    "docs/outbox-command.md": {
      title: "Inspect and repair a transactional outbox from a terminal",
      description:
        "npx @holdfast/outbox counts pending and dead messages, replays or discards dead letters, migrates the tables and serves a page.",
      keywords:
        "outbox status dead letters replay discard command line terminal npx migrate sql page postgres mysql mariadb pglite",
    },
    "docs/outbox.md": {
      title: "Transactional outbox for Node.js with PostgreSQL or MySQL",
      description:
        "Save a message in your transaction and deliver it at least once to RabbitMQ or a webhook. Drizzle, Kysely, Prisma.",
      keywords:
        "transactional outbox dead letters exactly once at least once delivery message queue job queue debezium cdc pg-boss bullmq graphile-worker rabbitmq nats kafka webhook standard-webhooks postgres mysql sent twice duplicate delayed scheduled poison failed message email event after commit webhook signature replay",
    },
    "docs/coming-from-p-retry.md": {
      title: "Coming from p-retry, p-queue and cockatiel",
      description:
        "Each option and function of p-retry, p-queue and cockatiel, and its counterpart.",
      keywords: "p-retry p-queue p-timeout p-limit cockatiel migrate circuit breaker bulkhead",
    },
    "docs/coming-from-go.md": {
      title: "Coming from Go: apimachinery/wait, workqueue, controller-runtime",
      description:
        "The names of Kubernetes' Go packages, their counterparts here, and each deliberate difference.",
      keywords: "go golang client-go apimachinery",
    },
    "docs/coming-from-go-clock.md": {
      title: "k8s.io/utils/clock in TypeScript",
      description:
        "PassiveClock, Timer, Ticker and FakeClock: Go's names and their counterparts in @holdfast/clock.",
      keywords: "go golang clock fake clock testing synctest timer ticker",
    },
    "docs/coming-from-go-wait.md": {
      title: "k8s.io/apimachinery/wait, cenkalti/backoff and jpillora/backoff in TypeScript",
      description:
        "Backoff, PollUntilContextCancel, RetryOnConflict, Permanent: Go's names and their counterparts in @holdfast/wait.",
      keywords:
        "go golang apimachinery wait poll RetryOnConflict cenkalti jpillora grpc backoff flowcontrol",
    },
    "docs/coming-from-go-controller.md": {
      title: "client-go workqueue and controller-runtime in TypeScript",
      description:
        "AddRateLimited, Reconcile, RunOrDie, SetupSignalHandler: Go's names and their counterparts in @holdfast/controller.",
      keywords:
        "go golang client-go workqueue controller-runtime leaderelection rate limiter manager",
    },
    "docs/coming-from-go-kubernetes.md": {
      title: "controller-runtime and kubebuilder operators in TypeScript",
      description:
        "Builder, client, cache, predicates and envtest: Go's names and their counterparts in @holdfast/kubernetes.",
      keywords:
        "go golang kubebuilder operator sdk informer envtest client.Client controller-runtime",
    },
    "docs/ethernet.md": {
      title: "Binary exponential backoff on a shared wire",
      description:
        "A simulated Ethernet beside the formula of Metcalfe and Boggs, and the capture effect.",
      keywords: "binary exponential backoff ethernet csma/cd collision capture effect",
    },
  }),
);
