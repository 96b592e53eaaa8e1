import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";

const folder = tempFolder();
const manifest = join(folder, "manifest.yaml");
const RUN_LOCK = new URL("../../dist/run/machine/run-lock.js", import.meta.url).href;

/** Takes the lock and gives it back, many times. Prints whatever is no refusal, and at last how often it had it. */
const contender = `
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { LockedError, RunLock } from ${JSON.stringify(RUN_LOCK)};
const held = ${JSON.stringify(join(folder, "held"))};
let terms = 0;
for (let round = 0; round < 500; round++) {
  let lock;
  try {
    lock = new RunLock(${JSON.stringify(manifest)});
    mkdirSync(held);
    mkdirSync(join(lock.folder, "processes"));
    terms++;
    rmdirSync(held);
  } catch (error) {
    if (!(error instanceof LockedError)) console.log(error);
  }
  lock?.[Symbol.dispose]();
}
console.log(terms);
`;

it("is held by one at a time of those that come and go, and fails for no other reason", async () => {
  writeFileSync(manifest, "");
  const runtime = join(folder, "runtime");
  mkdirSync(runtime);
  const contenders = [1, 2, 3].map(() =>
    spawn(process.execPath, ["--input-type=module", "--eval", contender], {
      env: { ...process.env, XDG_RUNTIME_DIR: runtime },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
  const printed = contenders.map(async ({ stdout, stderr }) => [
    await text(stdout),
    await text(stderr),
  ]);
  const all = await Promise.all(printed);
  const one = [expect.stringMatching(/^\d+\n$/), ""];
  expect(all).toEqual([one, one, one]);
  // One that a busy machine holds up may be refused each time.
  expect(Math.max(...all.map(([terms]) => Number(terms)))).toBeGreaterThan(0);
});
