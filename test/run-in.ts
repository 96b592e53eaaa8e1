let last: Promise<unknown> = Promise.resolve();

/** Runs something in a folder. The process has one working directory, so runs take turns. */
export async function runIn<T>(folder: string, run: () => Promise<T>): Promise<T> {
  const mine = last.then(async () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      return await run();
    } finally {
      process.chdir(before);
    }
  });
  last = mine.catch(() => {});
  return await mine;
}
