/**
 * One contender at one size: what a process of its own measures.
 *
 * @param missing - why something that cases need is not there, by its name
 */
export function planOf(suites, { only, quick }, missing = {}) {
  const jobs = [];
  const skipped = [];
  for (const suite of suites.filter(({ id }) => only.includes(id))) {
    for (const kase of suite.cases) {
      for (const size of quick ? kase.quickSizes : kase.sizes) {
        for (const contender of Object.keys(kase.contenders)) {
          const milliseconds = quick ? 0 : kase.milliseconds;
          const job = { suite: suite.id, case: kase.id, size, contender, milliseconds };
          if (kase.rounds !== undefined) job.mostRounds = kase.rounds;
          const limit = kase.skip?.[contender];
          const because = missing[kase.needs?.(contender)];
          if (because !== undefined) skipped.push({ ...job, because });
          else if (limit !== undefined && size > limit.above)
            skipped.push({ ...job, because: limit.because });
          else jobs.push(job);
        }
      }
    }
  }
  return { jobs, skipped };
}

/** The suites with no more than the sizes and contenders that the claims read. */
export function narrowed(suites, claims) {
  const reads = claims.flatMap((claim) => claim.reads);
  return suites.map((suite) => ({
    ...suite,
    cases: suite.cases.flatMap((kase) => {
      const mine = reads.filter((read) => read.suite === suite.id && read.case === kase.id);
      const contenders = Object.entries(kase.contenders).filter(([name]) =>
        mine.some(({ contender }) => contender === name),
      );
      const sizes = kase.sizes.filter((each) => mine.some(({ size }) => size === each));
      return mine.length === 0
        ? []
        : [{ ...kase, sizes, contenders: Object.fromEntries(contenders) }];
    }),
  }));
}

/** Whether a contender that is asked for needs something of that name. */
export function isNeeded(name, suites, { only }) {
  return suites
    .filter(({ id }) => only.includes(id))
    .flatMap(({ cases }) => cases)
    .some(({ contenders, needs }) =>
      Object.keys(contenders).some((each) => needs?.(each) === name),
    );
}

/** The jobs of one case and size stay together, in random order: noise hits all of them alike. */
export function shuffled(jobs) {
  const groups = new Map();
  for (const job of jobs) {
    const group = `${job.suite} ${job.case} ${job.size}`;
    groups.set(group, [...(groups.get(group) ?? []), { job, key: Math.random() }]);
  }
  return [...groups.values()].flatMap((group) =>
    group.toSorted((a, b) => a.key - b.key).map(({ job }) => job),
  );
}
