import type { Fold, Line } from "@holdfast/controller/recording";

type Json = Readonly<Record<string, unknown>>;

/** A call, up to its end. */
interface Call {
  readonly ask: Line;
  head: Line | undefined;
  body: string;
  /** How often a callback was called. */
  heard: number;
  /** Whether it was there at the snapshot before. */
  isOld: boolean;
}

/** An object as it was seen last. */
interface Item {
  readonly number: number;
  /** Undefined: it is gone. */
  readonly text: string | undefined;
}

/** The objects of a list and of its watch. */
interface Selection {
  readonly path: string;
  readonly store: string;
  kind: unknown;
  apiVersion: unknown;
  readonly keys: Set<string>;
}

/**
 * Folds the lines of an operator into those of one that has just read all that the operator knows: each selection as one
 * list, other objects one by one. Beside them are the calls that are open, the latest answer of each call of a linked system
 * and of each request about no resource, and, as the last line, the time. Requests of its own have negative numbers.
 *
 * Its text runs in a worker: it uses globals only.
 */
export function foldRequests(): Fold {
  const PATH =
    /^(\/(?:api|apis\/[^/?]+)\/[^/?]+)\/(?:namespaces\/([^/?]+)\/(?!(?:status|finalize)\b))?([^/?]+)(?:\/([^/?]+))?(\/[^?]+)?/;
  /** Most objects that nothing watches, and most answers. */
  const MOST = 10_000;
  const calls = new Map<unknown, Call>();
  const objects = new Map<string, Map<string, Item>>();
  const selections = new Map<string, Selection>();
  /** The keys of lists that have more pages, by the token of the next one. */
  const pages = new Map<
    string,
    { readonly selection: Selection; keys: Set<string>; isOld: boolean }
  >();
  const answers = new Map<string, readonly Line[]>();
  /** Methods that make objects, causes that are no inputs, gaps. */
  const notes = new Map<string, Line>();
  let now = 0;
  let wall: unknown;
  let top = 1;

  const parsed = (text: string): Json | undefined => {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === "object" && value !== null ? (value as Json) : undefined;
    } catch {
      return undefined;
    }
  };
  const metadataOf = (object: Json): Json => (object["metadata"] ?? {}) as Json;
  const numberOf = (object: Json): number => Number(metadataOf(object)["resourceVersion"]) || 0;
  const storeOf = (id: string): Map<string, Item> => {
    const store = objects.get(id) ?? new Map<string, Item>();
    objects.set(id, store);
    return store;
  };
  const put = (id: string, object: Json): string => {
    const { namespace = "", name } = metadataOf(object);
    const key = `${namespace}/${name}`;
    const number = numberOf(object);
    const store = storeOf(id);
    top = Math.max(top, number);
    if (number < (store.get(key)?.number ?? 0)) return key;
    store.delete(key); // the latest is the last one
    store.set(key, { number, text: JSON.stringify(object) });
    return key;
  };
  const drop = (id: string, key: string, given?: number): void => {
    const store = storeOf(id);
    const last = store.get(key)?.number ?? 0;
    const number = given ?? last + 0.5;
    top = Math.max(top, Math.floor(number));
    if (number > last) store.set(key, { number, text: undefined });
  };
  const selectionOf = (url: string, of: Json): Selection => {
    const [path = "", query] = url.split("?");
    const given = new URLSearchParams(query);
    const kept = ["labelSelector", "fieldSelector"].flatMap((name) =>
      given.getAll(name).map((value) => `${name}=${encodeURIComponent(value)}`),
    );
    const id = kept.length === 0 ? path : `${path}?${kept.join("&")}`;
    const [, base, , plural] = PATH.exec(path) ?? [];
    const { kind, apiVersion } = of;
    const found = selections.get(id) ?? {
      ...{ path: id, store: `${base}/${plural}`, kind, apiVersion, keys: new Set<string>() },
    };
    selections.set(id, found);
    return found;
  };

  const takeEvent = (url: string, text: string): void => {
    const { type, object } = (parsed(text) ?? {}) as { type?: unknown; object?: Json };
    if (object === undefined || type === "ERROR" || type === "BOOKMARK") return;
    const { store, keys } = selectionOf(url, { ...object, kind: `${object["kind"]}List` });
    const { namespace = "", name } = metadataOf(object);
    const key = `${namespace}/${name}`;
    if (type === "DELETED") {
      keys.delete(key);
      drop(store, key, numberOf(object));
    } else keys.add(put(store, object));
  };

  const takeList = (url: string, list: Json, items: readonly Json[]): void => {
    const selection = selectionOf(url, list);
    Object.assign(selection, { kind: list["kind"], apiVersion: list["apiVersion"] });
    const { store, keys } = selection;
    const token = new URLSearchParams(url.split("?")[1]).get("continue") ?? "";
    const listed = new Set([
      ...(pages.get(token)?.keys ?? []),
      ...items.map((one) => put(store, one)),
    ]);
    const next = metadataOf(list)["continue"];
    if (typeof next === "string" && next !== "") {
      pages.set(next, { selection, keys: listed, isOld: false });
      return;
    }
    top = Math.max(top, numberOf(list));
    for (const [one, page] of pages) if (page.selection === selection) pages.delete(one);
    for (const key of keys) if (!listed.has(key)) drop(store, key, numberOf(list));
    keys.clear();
    for (const key of listed) keys.add(key);
  };

  const takeWrite = (method: unknown, id: string, key: string | undefined, object: Json): void => {
    const { name, deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadataOf(object);
    const isHeld = (finalizers as unknown[] | undefined)?.length || deletionGracePeriodSeconds;
    const isGone =
      method === "DELETE"
        ? object["kind"] === "Status" || deletionTimestamp === undefined
        : deletionTimestamp !== undefined && !isHeld;
    if (!isGone && typeof name === "string") put(id, object);
    else if (isGone && key !== undefined) drop(id, key);
  };

  const takeAnswer = ({ ask, head, body }: Call, end: Line): void => {
    const { m, u } = ask as Line & { readonly m: string; readonly u: string };
    const [, base, namespace = "", plural, name, part] = PATH.exec(u) ?? [];
    const status = Number(head?.["s"]);
    const answer = parsed(body);
    const isMissing = m === "GET" && name === undefined && status === 404;
    if (base === undefined || isMissing) {
      remember(`${m} ${u}`, [ask, { ...head, k: "h" }, { ...end, body }]);
      return;
    }
    const id = `${base}/${plural}`;
    const key = name === undefined ? undefined : `${namespace}/${name}`;
    if (m === "GET" && status === 404 && key !== undefined && part === undefined) drop(id, key);
    if (!(status < 300) || answer === undefined) return;
    if (part !== undefined && part !== "/status") return;
    if (m !== "GET") {
      // Nobody reads the Events that an operator writes, and it has as many as it likes.
      if (plural !== "events" && !/[?&]dryRun=/.test(u)) takeWrite(m, id, key, answer);
    } else if (Array.isArray(answer["items"])) takeList(u, answer, answer["items"] as Json[]);
    else if (key !== undefined) put(id, answer);
  };

  const remember = (text: string, answer: readonly Line[]): void => {
    answers.delete(text); // the latest is the last one
    answers.set(text, answer);
  };

  const take = (line: Line): void => {
    const { k, n, t, w } = line;
    if (typeof t === "number") now = t;
    if (typeof w === "number") wall = w;
    if (k === "o") for (const one of [...calls.values(), ...pages.values()]) one.isOld = true;
    if (k === "m" || k === "f" || k === "gap") notes.set(JSON.stringify(line), line);
    if (k === "q" || k === "l") {
      const { heard = 0, ...ask } = line as Line & { readonly heard?: number };
      calls.set(n, { ask: { ...ask, t: now }, head: undefined, body: "", heard, isOld: false });
      return;
    }
    const call = k === "R" ? undefined : calls.get(n);
    if (call === undefined) return;
    const { ask } = call;
    const body = typeof line["body"] === "string" ? line["body"] : "";
    if (k === "h") call.head = { ...line, t: now };
    if (k === "F") Object.assign(call, { heard: call.heard + 1, isOld: false });
    if (k === "L") remember(`${ask["c"]}`, [ask, { ...line, t: now }]);
    const isWatch = isWatchOf(call);
    if (isWatch) for (const text of body.split("\n")) takeEvent(`${ask["u"]}`, text);
    else call.body += body;
    if (k === "e" && !isWatch) takeAnswer(call, { ...line, t: now });
    if (k === "L" || k === "e" || k === "x") calls.delete(n);
  };
  const isWatchOf = ({ ask, head }: Call): boolean =>
    /[?&]watch=(true|1)/.test(`${ask["u"]}`) && Number(head?.["s"]) < 300;

  /** The calls that are open. One that the program has left has no line that says so. */
  const open = (): Line[] => {
    const kept = new Map<string, Call>();
    for (const call of calls.values()) {
      const { ask, heard, isOld } = call;
      const text = `${ask["c"] ?? ask["u"]}`;
      const isWaiting = /^(stop$|signal )/.test(text);
      const isKept = text === "callback" ? heard > 1 || (heard === 0 && !isOld) : !isOld;
      const watched = text.replaceAll(/([?&])(resourceVersion|timeoutSeconds)=[^&]*/g, "$1");
      if (isWatchOf(call)) kept.set(watched, call);
      else if (isWaiting || isKept) kept.set(`${ask.n}`, call);
    }
    return [...kept.values()].flatMap(({ ask, head, body, heard }) => [
      heard > 0 ? { ...ask, heard } : ask,
      ...(head === undefined ? [] : [head]),
      ...(body === "" ? [] : [{ k: "c", n: ask.n as number, body }]),
    ]);
  };

  const lines = (): Line[] => {
    const seen: Line[] = [];
    const watched = new Set<string>();
    const read = (u: string, body: string): void => {
      const n = -1 - seen.length;
      seen.push(
        { k: "q", n, m: "GET", u, t: now },
        { k: "h", n, s: 200, h: {} },
        { k: "e", n, body },
      );
    };
    const list = (
      { path, store, kind, apiVersion }: Selection,
      keys: Set<string>,
      next = "",
    ): void => {
      const texts = [...keys].flatMap((key) => storeOf(store).get(key)?.text ?? []);
      for (const key of keys) watched.add(`${store} ${key}`);
      const metadata = { resourceVersion: `${top}`, ...(next !== "" && { continue: next }) };
      const rest = JSON.stringify({ kind, apiVersion, metadata });
      read(path, `${rest.slice(0, -1)},"items":[${texts.join(",")}]}`);
    };
    for (const one of selections.values()) list(one, one.keys);
    for (const [token, { selection, keys, isOld }] of pages)
      if (!isOld) list(selection, keys, token);
    const others = [...objects].flatMap(([store, items]) =>
      [...items].flatMap(([key, { text }]) =>
        text === undefined || watched.has(`${store} ${key}`) ? [] : [[store, key, text] as const],
      ),
    );
    for (const [store, key, text] of others.slice(-MOST)) {
      const [base, plural] = [store.replace(/\/[^/]*$/, ""), store.replace(/.*\//, "")];
      const [namespace, name] = key.split("/");
      read(`${base}${namespace ? `/namespaces/${namespace}` : ""}/${plural}/${name}`, text);
    }
    const answered = [...answers.values()].slice(-MOST).flat();
    const time = { k: "o", t: now, ...(wall !== undefined && { w: wall }) };
    return [...notes.values(), ...answered, ...open(), ...seen, time];
  };
  return { take, lines };
}
