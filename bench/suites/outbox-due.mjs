// The queries of a store, while very many messages are in its tables. They go through `OutboxStore` alone.
const DAY = 86_400_000;
/** How many messages are due while the others wait. */
const DUE = 100;
const HUNG = "orders.hung";
const PAID = "orders.paid";
const MESSAGE = { topic: "orders.saved", key: "order/4711", payload: {} };

/** Messages that are loaded at once: the n-th is due `start + n * step` milliseconds from now on. */
const due = { count: DUE, status: "pending", topic: PAID, start: -DAY, step: 1_000 };

/** What is in the tables, by the size of a case; how it is asked; and the order of the store. */
const TABLES = {
  /** The others wait. */
  due: (size) => [{ count: size, status: "retrying", topic: PAID, start: DAY, step: 100 }, due],
  /** The others were sent. */
  sent: (size) => [
    { count: 10_000, status: "pending", topic: PAID, start: DAY, step: 100 },
    due,
    { count: size, status: "delivered", topic: PAID },
  ],
  /** The others are due, and of a topic that hangs. */
  hung: (size) => [{ count: size, status: "pending", topic: HUNG, start: -2 * DAY, step: 1 }, due],
  /** All are due, a thousand for each key of at least ten. */
  keys: (size) => [
    {
      count: size,
      status: "pending",
      topic: PAID,
      keys: Math.max(10, size / 1_000),
      start: -DAY,
      step: 1,
    },
  ],
};

/** What a relay asks in each of them: the filter of a claim or of a look, by the name of its figure. */
const ASKED = {
  due: {
    claims: { claim: {}, "claim, expired": { hasExpired: true } },
    looks: { nextDue: {}, look: { hasExpired: true } },
    empty: { "claim, none": {} },
  },
  hung: {
    claims: {
      "claim, topics": { topics: [PAID] },
      "claim, exceptTopics": { exceptTopics: [HUNG] },
    },
    looks: { nextDue: { exceptTopics: [HUNG] }, look: { hasExpired: true, exceptTopics: [HUNG] } },
    empty: { "claim, none": { topics: ["nobody"] }, "claim, none expired": { hasExpired: true } },
  },
  keys: { claims: { claim: {} }, looks: { nextDue: {} }, empty: {} },
};

/** The figures of {@link asking}. */
export function figuresOf(table) {
  const { claims, looks, empty } = ASKED[table];
  const queries = [...Object.keys(claims), ...Object.keys(looks), ...Object.keys(empty)];
  return ["save", "write", "backlog", ...queries].map((query) => `${query}, wall µs`);
}

/** A sample: each query once. What it claims it gives back. */
export function asking(open, table) {
  const { claims, looks, empty } = ASKED[table] ?? ASKED.due;
  return async (size) => {
    const { database, storeOf, isNew, migrate, load } = await open(`${table}_${size}`);
    const store = storeOf({ order: table === "keys" ? "key" : "none" });
    if (isNew) {
      await migrate(database);
      await load(database, TABLES[table](size));
      if (claims["claim, expired"] !== undefined) await expire(store);
    }
    return async () => {
      const figures = {};
      const timed = async (name, work) => {
        const began = performance.now();
        const value = await work();
        figures[`${name}, wall µs`] = (performance.now() - began) * 1_000;
        return value;
      };
      const claiming = (name, filter, now) =>
        timed(name, () =>
          store.claim({ relay: "bench", now, until: Date.now() + 60_000, limit: 10, ...filter }),
        );
      const save = (tx) => timed("save", () => store.save(tx, MESSAGE, Date.now() + DAY));
      await database.transaction(save);
      for (const [name, filter] of Object.entries(claims)) {
        const claimed = await claiming(name, filter, Date.now());
        if (claimed.claims.length !== 10)
          throw new Error(`${name}: ${claimed.claims.length} of 10`);
        const outcomes = claimed.claims.map((claim) => ({ type: "released", claim }));
        await timed("write", () => store.write(outcomes));
      }
      for (const [name, filter] of Object.entries(looks))
        await timed(name, () => store.nextDue(undefined, filter));
      for (const [name, filter] of Object.entries(empty)) {
        // Nothing is due as long ago as that.
        const now = "topics" in filter || "hasExpired" in filter ? Date.now() : 1;
        const { claims: none } = await claiming(name, filter, now);
        if (none.length > 0) throw new Error(`${name}: ${none.length} of 0`);
      }
      await timed("backlog", () => store.backlog());
      return figures;
    };
  };
}

/** Lets ten claims expire, as those of a relay that dies. */
async function expire(store) {
  const now = Date.now();
  await store.claim({ relay: "dead", now, until: now + 1, limit: 10 });
  await new Promise((resolve) => setTimeout(resolve, 10));
  const { claims } = await store.expired(now + 10, 10);
  const failure = { now: now + 10, error: "lost", dueAt: now - DAY };
  for (const claim of claims)
    if (!(await store.recover(claim, failure, { name: "bench", token: 1 })))
      throw new Error("not recovered");
}
