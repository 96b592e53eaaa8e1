// What may import what. In each folder the layers stand on one another: a file may import from the
// layers before its own and from the folders named in `on`, never upward, never sideways.
// `npm` names what else a folder may import. `npm run check` holds the sources to this list.
module.exports = {
  "packages/clock/src": {
    layers: [
      ["abort-list.ts", "arguments.ts", "clock.ts"],
      ["base-timer.ts", "clock-ticker.ts", "on-abort.ts", "sleep.ts", "timeout-signal.ts"],
      ["base-clock.ts", "host-timer.ts"],
      ["context-clock.ts"],
      ["host-clock.ts"],
      ["real-clock.ts"],
      ["index.ts", "internal.ts"],
    ],
  },
  "packages/clock/src/testing": {
    on: ["packages/clock/src"],
    layers: [
      ["event-loop.ts", "livelock-error.ts", "test-clock.ts", "timer-heap.ts", "to-nanosecond.ts"],
      ["deadlock-error.ts", "livelock-guard.ts", "timeline.ts", "waiter-watch.ts"],
      ["drive.ts", "fake-timer.ts"],
      ["driver.ts"],
      ["driven-clock.ts"],
      ["fake-clock.ts"],
      ["index.ts"],
    ],
  },
  "packages/clock/src/fake-timers": {
    on: ["packages/clock/src", "packages/clock/src/testing"],
    layers: [
      ["fake-timers-clock.ts"],
      ["faked-time.ts"],
      ["faked-timer.ts"],
      ["faked-clock.ts"],
      ["from-fake-timers.ts"],
      ["index.ts"],
    ],
  },
  "packages/clock/src/rxjs": {
    on: ["packages/clock/src"],
    npm: ["rxjs"],
    layers: [["clock-action.ts"], ["as-scheduler.ts", "from-scheduler.ts"], ["index.ts"]],
  },
  "packages/wait/src": {
    on: ["packages/clock/src"],
    layers: [
      [
        "backoff-strategy.ts",
        "excessive-collisions-error.ts",
        "exhausted-error.ts",
        "loop-options.ts",
        "nanoseconds.ts",
      ],
      ["expected-slots.ts", "random.ts", "rearmed-timer.ts", "timeout-error.ts"],
      ["backoff-manager.ts", "growth-options.ts", "jitter.ts"],
      [
        "backoff.ts",
        "binary-exponential-backoff.ts",
        "decorrelated-jitter-backoff.ts",
        "grpc-backoff.ts",
        "loop.ts",
      ],
      [
        "equal-jitter-backoff.ts",
        "full-jitter-backoff.ts",
        "symmetric-jitter-backoff.ts",
        "strategy-of.ts",
        "backoff-until.ts",
        "connect-options.ts",
        "exponential-backoff-manager.ts",
        "jittered-backoff-manager.ts",
      ],
      ["jitter-until.ts", "try-connect.ts"],
      ["connecting.ts", "non-sliding-until.ts", "until.ts"],
      ["connect-with-backoff.ts", "forever.ts", "keep-connected.ts"],
      ["index.ts"],
    ],
  },
};
