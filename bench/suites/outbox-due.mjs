/** How many messages are due while the others wait. */
const DUE = 100;

/** A sample: ten of a hundred that are due, claimed and given back; when the next one is due. */
export function asking(open, rowsOf) {
  return async (size) => {
    const rows = rowsOf(size);
    const { database, store, isNew, migrate, load } = await open(`${rows.waiting}_${rows.sent}`);
    if (isNew) {
      await migrate(database);
      await load(database, { ...rows, due: DUE });
    }
    return async () => {
      const now = Date.now();
      const claimed = await timed(() =>
        store.claim({ relay: "bench", now, until: now + 60_000, limit: 10 }),
      );
      const { claims } = claimed.value;
      await store.write(claims.map((claim) => ({ type: "released", claim })));
      const next = await timed(() => store.nextDue());
      if (claims.length !== 10 || !(next.value < now)) throw new Error("not what is due");
      return { "claim, wall µs": claimed.wall, "nextDue, wall µs": next.wall };
    };
  };
}

async function timed(work) {
  const began = performance.now();
  const value = await work();
  return { value, wall: (performance.now() - began) * 1_000 };
}
