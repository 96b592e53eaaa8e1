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

/** What a path is about. */
interface Place {
  readonly store: string;
  /** Undefined for a list. */
  readonly key: string | undefined;
  /** Whether the answer is the object: a scale is not. */
  readonly isWhole: boolean;
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
  /** Objects of a list that are in one line. */
  const PAGE = 500;
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

  /** A list has ended: what is not in it is gone. */
  const complete = (selection: Selection, listed: ReadonlySet<string>, number: number): void => {
    const { store, keys } = selection;
    top = Math.max(top, number);
    for (const [token, page] of pages) if (page.selection === selection) pages.delete(token);
    for (const key of keys) if (!listed.has(key)) drop(store, key, number);
    keys.clear();
    for (const key of listed) keys.add(key);
  };

  const takeList = (url: string, list: Json, items: readonly Json[]): void => {
    const selection = selectionOf(url, list);
    Object.assign(selection, { kind: list["kind"], apiVersion: list["apiVersion"] });
    const { store } = selection;
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
    complete(selection, listed, numberOf(list));
  };

  const isGoneBy = (method: unknown, object: Json): boolean => {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadataOf(object);
    if (method === "DELETE") return object["kind"] === "Status" || deletionTimestamp === undefined;
    const isHeld = Boolean(deletionGracePeriodSeconds) || (finalizers as unknown[]).length > 0;
    return deletionTimestamp !== undefined && !isHeld;
  };

  const takeWrite = (method: unknown, { store, key }: Place, object: Json): void => {
    const isGone = isGoneBy(method, object);
    if (!isGone && "name" in metadataOf(object)) put(store, object);
    else if (isGone && key !== undefined) drop(store, key);
  };

  const placeOf = (url: string): Place | undefined => {
    const [, base, namespace = "", plural, name, part = "/status"] = PATH.exec(url) ?? [];
    if (base === undefined) return undefined;
    const key = name === undefined ? undefined : `${namespace}/${name}`;
    return { store: `${base}/${plural}`, key, isWhole: part === "/status" };
  };

  const takeObject = (method: unknown, url: string, place: Place, object: Json): void => {
    const { store, key } = place;
    const { items } = object;
    if (method !== "GET") {
      // Nobody reads the Events that an operator writes, and it has as many as it likes.
      const isKept = !store.endsWith("/events") && !/[?&]dryRun=/.test(url);
      if (isKept) takeWrite(method, place, object);
    } else if (Array.isArray(items)) takeList(url, object, items as Json[]);
    else if (key !== undefined) put(store, object);
  };

  const takeAnswer = ({ ask, head, body }: Call, end: Line): void => {
    const [method, url] = [ask["m"], `${ask["u"]}`];
    const place = placeOf(url);
    const status = Number(head?.["s"]);
    const isMissing = method === "GET" && status === 404;
    if (place === undefined || (isMissing && place.key === undefined))
      remember(`${method} ${url}`, [ask, { ...head, k: "h" }, { ...end, body }]);
    else if (place.isWhole) {
      const object = status < 300 ? parsed(body) : undefined;
      if (object !== undefined) takeObject(method, url, place, object);
      if (isMissing) drop(place.store, `${place.key}`);
    }
  };

  const remember = (text: string, answer: readonly Line[]): void => {
    answers.delete(text); // the latest is the last one
    answers.set(text, answer);
  };

  /** Takes an input of a call. */
  const hear = (call: Call, input: Line): void => {
    const { k, n, body = "" } = input;
    const { ask } = call;
    if (k === "h") call.head = input;
    if (k === "F") Object.assign(call, { heard: call.heard + 1, isOld: false });
    if (k === "L") remember(`${ask["c"]}`, [ask, input]);
    if (isWatchOf(call)) for (const text of `${body}`.split("\n")) takeEvent(`${ask["u"]}`, text);
    else {
      call.body += `${body}`;
      if (k === "e") takeAnswer(call, input);
    }
    if (/^[Lex]$/.test(k)) calls.delete(n);
  };

  /** A snapshot ends. */
  const age = (): void => {
    for (const one of [...calls.values(), ...pages.values()]) one.isOld = true;
  };

  const take = (line: Line): void => {
    const { k, n, t = now, w = wall, heard = 0, ...rest } = line;
    now = t;
    wall = w;
    if (k === "o") age();
    if (/^(m|f|gap)$/.test(k)) notes.set(JSON.stringify(line), line);
    const call = k === "R" ? undefined : calls.get(n); // of a read `n` is something else
    if (k === "q" || k === "l") {
      const ask = { k, n, ...rest, t } as Line;
      calls.set(n, { ask, head: undefined, body: "", heard: Number(heard), isOld: false });
    } else if (call !== undefined) hear(call, { ...line, t });
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
      last = "",
    ): void => {
      const texts = [...keys].flatMap((key) => storeOf(store).get(key)?.text ?? []);
      for (const key of keys) watched.add(`${store} ${key}`);
      let token = "";
      for (let at = 0; at === 0 || at < texts.length; at += PAGE) {
        const url = `${path}${path.includes("?") ? "&" : "?"}continue=${token}`;
        token = at + PAGE < texts.length ? `page-${seen.length}` : last;
        const metadata = { resourceVersion: `${top}`, ...(token !== "" && { continue: token }) };
        const rest = JSON.stringify({ kind, apiVersion, metadata });
        const items = texts.slice(at, at + PAGE).join(",");
        read(at === 0 ? path : url, `${rest.slice(0, -1)},"items":[${items}]}`);
      }
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
