// Assertions without a test framework, which would need a platform of its own.

/**
 * @param {unknown} actual
 * @param {unknown} expected
 */
export function equal(actual, expected) {
  const [got, wanted] = [show(actual), show(expected)];
  if (got !== wanted) throw new Error(`got ${got}, expected ${wanted}`);
}

/** The reason of a rejection. A promise that resolves fails the check. */
export async function reasonOf(promise) {
  const value = await promise.then(
    (value) => ({ value }),
    (reason) => ({ reason }),
  );
  if ("value" in value) throw new Error(`resolved with ${show(value.value)}, expected a rejection`);
  return value.reason;
}

/** A signal whose abort no listener hears that was added with `addEventListener` after this. */
export function hiddenAbort() {
  const stop = new AbortController();
  stop.signal.addEventListener("abort", (event) => event.stopImmediatePropagation());
  return stop;
}

function show(value) {
  return JSON.stringify(value, (_, part) => {
    if (part === undefined || Number.isNaN(part) || typeof part === "symbol") return String(part);
    if (part === Number.POSITIVE_INFINITY || part instanceof Error) return String(part);
    return part;
  });
}
