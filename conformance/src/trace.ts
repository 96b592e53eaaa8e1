/** What a case gives, whichever side computed it: plain data, every whole number a bigint. */
export type Trace = Leaf | readonly Trace[] | Fields;

export type Fields = { readonly [field: string]: Trace };

export type Leaf = bigint | boolean | string | null | undefined;

/** Turns the fields of recorded JSON into a trace. */
export function fieldsOf(json: object): Fields {
  return Object.fromEntries(Object.entries(json).map(([field, value]) => [field, traceOf(value)]));
}

/** Whole numbers are recorded as numbers or, above 2^53, as decimal strings. */
function traceOf(json: unknown): Trace {
  if (typeof json === "number") return BigInt(json);
  if (typeof json === "string") return /^-?\d+$/.test(json) ? BigInt(json) : json;
  if (Array.isArray(json)) return json.map(traceOf);
  return typeof json === "object" && json !== null ? fieldsOf(json) : (json as Leaf);
}

/** Whether two traces have the same values. */
export function same(one: Trace, other: Trace): boolean {
  if (!isBranch(one) || !isBranch(other)) return one === other;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => same(item, other[index]));
  const [left, right] = [one as Fields, other as Fields];
  for (const key of Object.keys(left)) if (!same(left[key], right[key])) return false;
  for (const key of Object.keys(right))
    if (!(key in left) && right[key] !== undefined) return false;
  return true;
}

/** Whether there is more below. */
export function isBranch(trace: Trace): trace is Fields | readonly Trace[] {
  return typeof trace === "object" && trace !== null;
}

/** How a value reads in a message. */
export function show(leaf: Leaf): string {
  return leaf === undefined ? "nothing" : String(leaf);
}
