/** The path of the first part in which two values differ, as in `body.spec.replicas`. Texts of JSON are compared by their parts. */
export function firstDifference(one: unknown, other: unknown): string {
  return pathOf(parsed(one), parsed(other))?.join(".") ?? "";
}

function pathOf(one: unknown, other: unknown): string[] | undefined {
  if (!isTree(one) || !isTree(other))
    return JSON.stringify(one) === JSON.stringify(other) ? undefined : [];
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const below = pathOf(parsed(one[name]), parsed(other[name]));
    if (below !== undefined) return [name, ...below];
  }
  return undefined;
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[{[]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
