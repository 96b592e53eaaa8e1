// Programs that start others, such as servers, end with the process that has started them.

/** How often to look for it, in milliseconds. */
const LOOK = 500;

const parent = process.ppid;
/** @type {NodeJS.Timeout | undefined} */
let looking;

/**
 * Takes the end of the parent for a SIGTERM. A shell between npm and its script ends at a signal, and the script is not told;
 * nor is it if npm is killed.
 */
export function endWithParent() {
  looking ??= setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    process.kill(process.pid, "SIGTERM");
  }, LOOK).unref();
}
