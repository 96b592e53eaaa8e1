// What each folder may import beside its own files and Node. Imports go down only: a workspace imports
// from workspaces above it on this page, a folder from folders above it in its workspace. `.` are the files
// beside the folders, `*` is every folder, `npm:` marks a package of others. A file on another level than
// its folder has a line of its own. An entry point may import all folders of its package.
const clock = ["@holdfast/clock", "@holdfast/clock/internal"];
const users = [
  "@holdfast/clock",
  "@holdfast/clock/testing",
  "@holdfast/wait",
  "@holdfast/controller",
];
const waits = ["@holdfast/wait/go", "@holdfast/wait/strategies"];

module.exports = {
  tools: { "*": ["npm:*"] },
  "packages/clock/src": {
    "clock.ts": [],
    internal: [],
    "host/platform.ts": [],
    abort: ["internal", "host/platform.ts"],
    ".": ["clock.ts", "internal", "abort"],
    host: ["clock.ts", "internal", "host/platform.ts", "."],
    "internal/event-loop.ts": ["clock.ts"],
    "real-clock.ts": ["clock.ts", "host/platform.ts", "internal/event-loop.ts", "host"],
    testing: ["clock.ts", "internal", "host/platform.ts", "abort", ".", "host"],
    "fake-timers": ["clock.ts", "internal", "host", "testing"],
    rxjs: ["clock.ts", "internal", "host", "npm:rxjs"],
  },
  "packages/wait/src": {
    "*": clock,
    delay: [],
    strategies: ["delay"],
    limit: [],
    loop: ["delay"],
    retry: ["delay", "limit", "loop"],
    poll: ["delay", "limit", "loop", "retry"],
    connect: ["delay", "strategies", "limit", "loop", "retry"],
    go: ["delay", "limit", "loop"],
    rxjs: ["delay", "limit", "loop", "retry", "@holdfast/clock/rxjs", "npm:rxjs"],
  },
  "packages/controller/src": {
    "*": [...clock, "@holdfast/wait"],
    ".": [],
    limit: [],
    queue: ["limit"],
    reconcile: ["."],
    source: [".", "queue", "@holdfast/wait/go"],
    controller: [".", "limit", "queue", "reconcile", "source"],
    election: [".", "@holdfast/wait/go"],
    "file-lock": ["election"],
    manager: ["."],
    prometheus: [".", "queue", "npm:prom-client"],
    opentelemetry: [".", "npm:@opentelemetry/api"],
  },
  "packages/examples/src": {
    "*": [...users, ...waits, "npm:*"],
    terminal: [],
    picture: [],
    recipes: ["@holdfast/wait/rxjs", "@holdfast/controller/file-lock"],
    supervisor: ["terminal", "@holdfast/controller/file-lock", "@holdfast/controller/prometheus"],
    "grpc-connect": ["terminal"],
    outbox: ["terminal"],
    ethernet: ["terminal", "picture"],
    herd: ["terminal", "picture"],
  },
  "conformance/src": { "*": [...users, ...waits] },
  runtimes: {
    suite: [...users, ...waits, "@holdfast/clock/rxjs", "@holdfast/wait/rxjs", "npm:rxjs"],
    ".": ["tools", "npm:playwright-core"],
  },
  services: { "*": [...users, "packages/examples/dist", "npm:*"] },
  bench: { "*": [...users, ...waits, "packages/examples/dist", "services", "npm:*"] },
};
