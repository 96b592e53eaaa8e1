/** No zero in front: two texts of one number would have two lengths. */
const NUMBER = /^[1-9][0-9]{0,127}$/;

/**
 * Compares two versions of objects of one resource. Kubernetes promises decimal numbers since 1.35; other
 * servers may use anything.
 *
 * @returns negative if `a` is older, 0 if equal, positive if newer; undefined if one is not a well-formed
 * number
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (!NUMBER.test(a) || !NUMBER.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Whether a version is older than another. False if they cannot be compared. */
export function isOlder(version: string, than: string): boolean {
  return (compareVersions(version, than) ?? 0) < 0;
}
