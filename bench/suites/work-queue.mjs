import { clientGo } from "../client-go.mjs";
import { liveBytes, stopwatch } from "../measure.mjs";

/** How many items a sample of a cycle has. */
const CYCLES = 300_000;
const SLOW_CYCLES = 30_000;

/** What a contender needs besides Node. */
const ofClientGo = (contender) => (contender.startsWith("client-go") ? "client-go" : undefined);

const keysOf = (count) => Array.from({ length: count }, (_, i) => `shop/order-${i}`);

/** A sample of `count` items, one after the other: each is added, handed out and done. */
function cycling(count, cycle) {
  return async () => {
    const lap = stopwatch();
    await cycle(count);
    return { "ns/item": lap() / count };
  };
}

const CYCLE = {
  "WorkQueue, take": async (size) => {
    const { WorkQueue } = await import("@holdfast/controller");
    const queue = new WorkQueue();
    const keys = keysOf(size);
    return cycling(CYCLES, (count) => {
      for (let i = 0; i < count; i++) {
        queue.add(keys[i % size]);
        queue.take().done();
      }
    });
  },
  "WorkQueue, await get": async (size) => {
    const { WorkQueue } = await import("@holdfast/controller");
    const queue = new WorkQueue();
    const keys = keysOf(size);
    return cycling(CYCLES, async (count) => {
      for (let i = 0; i < count; i++) {
        queue.add(keys[i % size]);
        (await queue.get()).done();
      }
    });
  },
  "bare Map and ring": (size) => {
    const keys = keysOf(size);
    const states = new Map();
    const ring = new Array(1_024);
    let [head, tail] = [0, 0];
    return cycling(CYCLES, (count) => {
      for (let i = 0; i < count; i++) {
        const key = keys[i % size];
        if (!states.has(key)) {
          states.set(key, "queued");
          ring[tail++ & 1_023] = key;
        }
        const next = ring[head & 1_023];
        ring[head++ & 1_023] = undefined;
        states.set(next, "processing");
        states.delete(next);
      }
    });
  },
  "client-go": clientGo("cycle", "strings"),
  fastq: async (size) => {
    const { default: fastq } = await import("fastq");
    const queue = fastq((_key, done) => done(), 1);
    const keys = keysOf(size);
    return cycling(CYCLES, (count) => {
      for (let i = 0; i < count; i++) queue.push(keys[i % size]);
    });
  },
  "p-queue": async (size) => {
    const { default: PQueue } = await import("p-queue");
    const queue = new PQueue({ concurrency: 1 });
    const keys = keysOf(size);
    let last;
    const work = (key) => () => {
      last = key;
    };
    return cycling(SLOW_CYCLES, async (count) => {
      for (let i = 0; i < count; i++) await queue.add(work(keys[i % size]));
      if (last === undefined) throw new Error("nothing ran");
    });
  },
  bottleneck: async (size) => {
    const { default: Bottleneck } = await import("bottleneck");
    const limiter = new Bottleneck({ maxConcurrent: 1 });
    const keys = keysOf(size);
    return cycling(SLOW_CYCLES / 100, async (count) => {
      for (let i = 0; i < count; i++) await limiter.schedule(async () => keys[i % size]);
    });
  },
};

/** Items that are all queued before the first is taken, `size` of them. */
const STEADY = {
  "WorkQueue, take": async (size) => {
    const { WorkQueue } = await import("@holdfast/controller");
    const queue = new WorkQueue();
    for (const key of keysOf(size)) queue.add(key);
    return cycling(CYCLES, (count) => {
      for (let i = 0; i < count; i++) {
        const work = queue.take();
        work.done();
        queue.add(work.item);
      }
    });
  },
  "client-go": clientGo("steady", "strings"),
  "bare Map and array that shifts": (size) => {
    const keys = keysOf(size);
    const states = new Map(keys.map((key) => [key, "queued"]));
    return cycling(CYCLES, (count) => {
      for (let i = 0; i < count; i++) {
        const key = keys.shift();
        states.delete(key);
        states.set(key, "queued");
        keys.push(key);
      }
    });
  },
};

/** How many keys come at once, and how often. */
const BURST = 1_000;
const BURSTS = 100;

/**
 * Bursts of keys that are worked on by nothing at all. `start` is given what to do, and returns how to
 * add a key; an item is over when what to do with it was called.
 */
function reconciling(workers, start) {
  const keys = keysOf(BURST);
  return async () => {
    let left = 0;
    let finish;
    const add = await start(async () => {
      if (--left === 0) finish();
    }, workers);
    return cycling(BURST * BURSTS, async () => {
      for (let burst = 0; burst < BURSTS; burst++) {
        const finished = new Promise((resolve) => {
          finish = resolve;
        });
        left = BURST;
        for (const key of keys) add(key);
        await finished;
        await new Promise(setImmediate); // until the last is done, too
        if (left !== 0) throw new Error(`${-left} items too many`);
      }
    })();
  };
}

async function controllerOf(reconcile, workers) {
  const { Controller, fromCallback } = await import("@holdfast/controller");
  let enqueue;
  const source = fromCallback("orders", (enqueueOrder) => {
    enqueue = enqueueOrder;
  });
  const controller = new Controller({ name: "orders", reconcile, workers, sources: [source] });
  void controller.run(new AbortController().signal, { ref: false });
  await new Promise(setImmediate);
  return enqueue;
}

async function queueOf(reconcile, workers) {
  const { WorkQueue } = await import("@holdfast/controller");
  const queue = new WorkQueue();
  const work = async () => {
    for (let work = await queue.get(); work !== undefined; work = await queue.get()) {
      await reconcile(work.item);
      work.done();
    }
  };
  for (let i = 0; i < workers; i++) void work();
  return (key) => queue.add(key);
}

/** By hand, what a queue of functions lacks: a key once, and again if it is added while it runs. */
function deduplicating(push, reconcile) {
  const states = new Map();
  const run = async (key) => {
    states.set(key, "running");
    await reconcile(key);
    if (states.get(key) === "dirty") enqueue(key);
    else states.delete(key);
  };
  const enqueue = (key) => {
    states.set(key, "queued");
    push(key);
  };
  const add = (key) => {
    const state = states.get(key);
    if (state === undefined) enqueue(key);
    else if (state === "running") states.set(key, "dirty");
  };
  return { run, add };
}

async function fastqOf(reconcile, workers) {
  const { default: fastq } = await import("fastq");
  const { run, add } = deduplicating((key) => queue.push(key), reconcile);
  const queue = fastq.promise(run, workers);
  return add;
}

async function pQueueOf(reconcile, workers) {
  const { default: PQueue } = await import("p-queue");
  const queue = new PQueue({ concurrency: workers });
  const { run, add } = deduplicating((key) => void queue.add(() => run(key)), reconcile);
  return add;
}

const LOOP = {
  Controller: (workers) => reconciling(workers, controllerOf),
  "WorkQueue, await get": (workers) => reconciling(workers, queueOf),
  "fastq.promise and a Map": (workers) => reconciling(workers, fastqOf),
  "p-queue and a Map": (workers) => reconciling(workers, pQueueOf),
};

function delays(count) {
  return Float64Array.from({ length: count }, () => 1 + Math.random() * 1e6);
}

const DELAYED = {
  "WorkQueue on FakeClock": async (size) => {
    const { WorkQueue } = await import("@holdfast/controller");
    const { FakeClock } = await import("@holdfast/clock/testing");
    const keys = keysOf(size);
    const after = delays(size);
    return () => {
      const clock = new FakeClock();
      const queue = new WorkQueue({ clock });
      const before = liveBytes();
      const lap = stopwatch();
      for (let i = 0; i < size; i++) queue.add(keys[i], { after: after[i] });
      const add = lap();
      const bytes = liveBytes() - before;
      lap();
      clock.stepSync(2e6);
      const due = lap();
      if (queue.size !== size) throw new Error(`${queue.size} of ${size} became due`);
      for (let work = queue.take(); work !== undefined; work = queue.take()) work.done();
      const drain = lap();
      return perItem(size, { "add ns": add, "due ns": due, "drain ns": drain, bytes });
    };
  },
  "client-go": clientGo("delayed", "strings"),
  "client-go, keys are ints": clientGo("delayed", "ints"),
  "bare Map of records, no order": (size) => {
    const keys = keysOf(size);
    const after = delays(size);
    return () => {
      const records = new Map();
      const before = liveBytes();
      const lap = stopwatch();
      for (let i = 0; i < size; i++) {
        if (records.get(keys[i]) === undefined)
          records.set(keys[i], { key: keys[i], deadline: after[i], state: "delayed", priority: 0 });
      }
      const add = lap();
      const bytes = liveBytes() - before;
      lap();
      for (const key of keys) records.delete(key);
      return perItem(size, { "add ns": add, "drain ns": lap(), bytes });
    };
  },
  "setTimeout each": (size) => {
    const after = delays(size);
    return () => {
      const timers = new Array(size);
      const before = liveBytes();
      const lap = stopwatch();
      for (let i = 0; i < size; i++) timers[i] = setTimeout(() => {}, after[i] + 3_600_000);
      const add = lap();
      const bytes = liveBytes() - before;
      for (const timer of timers) clearTimeout(timer);
      return perItem(size, { "add ns": add, bytes });
    };
  },
};

function perItem(size, sums) {
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / size]));
}

/** What a queue of so many keys holds. */
const HELD = {
  "WorkQueue, queued": async (size) => {
    const { WorkQueue } = await import("@holdfast/controller");
    const keys = keysOf(size);
    return () => {
      const before = liveBytes();
      const queue = new WorkQueue();
      for (const key of keys) queue.add(key);
      const bytes = (liveBytes() - before) / size;
      return { "bytes/key": queue.size === size ? bytes : Number.NaN };
    };
  },
  "p-queue, queued": async (size) => {
    const { default: PQueue } = await import("p-queue");
    return () => {
      const before = liveBytes();
      const queue = new PQueue({ concurrency: 1, autoStart: false });
      for (let i = 0; i < size; i++) void queue.add(() => i);
      const bytes = (liveBytes() - before) / size;
      return { "bytes/key": queue.size === size ? bytes : Number.NaN };
    };
  },
  "ExponentialLimiter, failing": async (size) => {
    const { ExponentialLimiter } = await import("@holdfast/controller");
    const keys = keysOf(size);
    return () => {
      const before = liveBytes();
      const limiter = new ExponentialLimiter();
      for (const key of keys) limiter.when(key);
      const bytes = (liveBytes() - before) / size;
      return { "bytes/key": limiter.requeues(keys[0]) === 1 ? bytes : Number.NaN };
    };
  },
};

/** One key that fails ten times and is forgotten; a clock on which its backoff is always over. */
function failing(create) {
  return async () => {
    const { BaseClock } = await import("@holdfast/clock");
    class LeapingClock extends BaseClock {
      #now = 0;
      now() {
        return this.monotonic();
      }
      monotonic() {
        this.#now += 1e9;
        return this.#now;
      }
      afterFunc() {
        throw new Error("a limiter arms no timer");
      }
    }
    const limiter = await create(new LeapingClock());
    return cycling(CYCLES, (count) => {
      for (let i = 0; i < count; i++) {
        limiter.when("shop/order-1");
        if (i % 10 === 9) limiter.forget("shop/order-1");
      }
    });
  };
}

const LIMIT = {
  ExponentialLimiter: failing(async (clock) => {
    const { ExponentialLimiter } = await import("@holdfast/controller");
    return new ExponentialLimiter({ clock });
  }),
  FastSlowLimiter: failing(async (clock) => {
    const { FastSlowLimiter } = await import("@holdfast/controller");
    return new FastSlowLimiter({ fast: 5, slow: 1_000, maxFast: 5, clock });
  }),
  TokenBucketLimiter: failing(async (clock) => {
    const { TokenBucketLimiter } = await import("@holdfast/controller");
    return new TokenBucketLimiter({ qps: 10, burst: 100, clock });
  }),
  "MaxOfLimiter of both, client-go's default": failing(async (clock) => {
    const { ExponentialLimiter, MaxOfLimiter, TokenBucketLimiter } = await import(
      "@holdfast/controller"
    );
    const bucket = new TokenBucketLimiter({ qps: 10, burst: 100, clock });
    return new MaxOfLimiter([new ExponentialLimiter({ clock }), bucket], { clock });
  }),
};

export const workQueue = {
  id: "e",
  title: "work queue",
  cases: [
    {
      id: "cycle",
      title: "add, hand out, done, one item after the other",
      sizes: [1, 1_000, 100_000, 1_000_000],
      quickSizes: [1_000],
      samples: 5,
      milliseconds: 500,
      unit: "keys in turn",
      contenders: CYCLE,
      needs: ofClientGo,
    },
    {
      id: "steady",
      title: "hand out, done, add again",
      sizes: [1_000, 100_000, 1_000_000],
      quickSizes: [1_000],
      samples: 5,
      milliseconds: 500,
      unit: "keys queued",
      contenders: STEADY,
      needs: ofClientGo,
      skip: {
        "bare Map and array that shifts": {
          above: 10_000,
          because: "an array moves what is left at each shift",
        },
      },
    },
    {
      id: "loop",
      title: "a whole loop whose reconciler does nothing, bursts of 1,000 keys",
      sizes: [1, 8],
      quickSizes: [1],
      samples: 5,
      milliseconds: 500,
      unit: "workers",
      contenders: LOOP,
    },
    {
      id: "delayed",
      title: "added at random times, due, handed out and done",
      sizes: [100_000, 1_000_000],
      quickSizes: [1_000],
      samples: 3,
      milliseconds: 0,
      unit: "delayed keys",
      contenders: DELAYED,
      needs: ofClientGo,
    },
    {
      id: "held",
      title: "memory beside the key",
      sizes: [1_000_000],
      quickSizes: [1_000],
      samples: 1,
      milliseconds: 0,
      unit: "keys",
      contenders: HELD,
    },
    {
      id: "limit",
      title: "a failure that counts, each tenth forgotten",
      sizes: [1],
      quickSizes: [1],
      samples: 5,
      milliseconds: 300,
      unit: "key",
      contenders: LIMIT,
    },
  ],
};
