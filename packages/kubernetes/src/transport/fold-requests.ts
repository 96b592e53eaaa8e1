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

/** The objects of a list and of its watch. */
interface Selection {
  readonly url: string;
  readonly kind: unknown;
  readonly apiVersion: unknown;
  /** Paths of objects. */
  keys: Set<string>;
  /** A list that has more pages. */
  next: { readonly token: string; readonly keys: Set<string> } | undefined;
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
  /** Objects as they were seen last, by their path. Those without a text are gone. */
  const objects = new Map<string, { readonly number: number; readonly text?: string }>();
  const selections = new Map<string, Selection>();
  const answers = new Map<string, readonly Line[]>();
  /** Methods that make objects, and causes that are no inputs. */
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
  /** The path of an object that a path of its resource shows. */
  const pathOf = (url: string, object: Json): string => {
    const [, base, , plural] = PATH.exec(url) ?? [];
    const { namespace, name } = metadataOf(object);
    return `${base}${namespace ? `/namespaces/${namespace}` : ""}/${plural}/${name}`;
  };

  const see = (path: string, number: number, text?: string): void => {
    top = Math.max(top, Math.floor(number));
    if (number < (objects.get(path)?.number ?? 0)) return; // an answer that comes late
    objects.delete(path); // the latest is the last one
    objects.set(path, text === undefined ? { number } : { number, text });
  };
  const put = (url: string, object: Json): string => {
    const path = pathOf(url, object);
    see(path, numberOf(object), JSON.stringify(object));
    return path;
  };
  /** An object is gone, at a version that nothing has told. */
  const drop = (path: string): void => see(path, (objects.get(path)?.number ?? 0) + 0.5);

  const selectionOf = (url: string, kind: unknown, apiVersion: unknown): Selection => {
    const [path, query = ""] = url.split("?");
    const selectors = query.split("&").filter((one) => /^(label|field)Selector=/.test(one));
    const id = [path, ...selectors].join("&").replace("&", "?");
    const made = { url: id, kind, apiVersion, keys: new Set<string>(), next: undefined };
    const found = selections.get(id) ?? made;
    selections.set(id, found);
    return found;
  };

  const takeEvent = (url: string, text: string): void => {
    const { type, object } = (parsed(text) ?? {}) as { type?: unknown; object?: Json };
    if (object === undefined || type === "ERROR" || type === "BOOKMARK") return;
    const { keys } = selectionOf(url, `${object["kind"]}List`, object["apiVersion"]);
    const path = put(url, object);
    if (type !== "DELETED") keys.add(path);
    else {
      keys.delete(path);
      see(path, numberOf(object));
    }
  };

  /** The keys of the pages before the one that a request asks for. Undefined: they are not known. */
  const begunBy = (url: string, { next }: Selection): Iterable<string> | undefined => {
    const token = new URLSearchParams(url.split("?")[1]).get("continue") ?? "";
    if (token === "") return [];
    return next?.token === token ? next.keys : undefined;
  };

  /** Takes a list, or a page of it: what is not in a whole list is gone. */
  const takeList = (url: string, list: Json): void => {
    const selection = selectionOf(url, list["kind"], list["apiVersion"]);
    const paths = (list["items"] as readonly Json[]).map((item) => put(url, item));
    const begun = begunBy(url, selection);
    if (begun === undefined) return;
    const keys = new Set([...begun, ...paths]);
    const { continue: token } = metadataOf(list);
    selection.next = token ? { token: `${token}`, keys } : undefined;
    if (selection.next !== undefined) return;
    for (const path of selection.keys) if (!keys.has(path)) see(path, numberOf(list));
    selection.keys = keys;
    top = Math.max(top, numberOf(list));
  };

  const isGoneBy = (method: unknown, object: Json): boolean => {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadataOf(object);
    if (method === "GET") return false;
    if (method === "DELETE") return object["kind"] === "Status" || deletionTimestamp === undefined;
    const isHeld = Boolean(deletionGracePeriodSeconds) || (finalizers as unknown[]).length > 0;
    return deletionTimestamp !== undefined && !isHeld;
  };

  const takeObject = (method: unknown, url: string, path: string, object: Json): void => {
    // Nobody reads the Events that an operator writes, and it has as many as it likes.
    const isKept = method === "GET" || PATH.exec(url)?.[3] !== "events";
    if (method === "GET" && Array.isArray(object["items"])) takeList(url, object);
    else if (isGoneBy(method, object)) drop(path);
    else if (isKept && "name" in metadataOf(object)) put(url, object);
  };

  /** What the path of a request is about. A scale, and what a dry run would make, show no object. */
  const placeOf = (url: string) => {
    const [isOfResource, , namespace, , name, part = "/status"] = PATH.exec(url) ?? [];
    const path = pathOf(url, { metadata: { namespace, name } });
    return { isOfResource, name, path, isShown: part === "/status" && !/[?&]dryRun=/.test(url) };
  };

  const takeAnswer = ({ ask, head, body }: Call, end: Line): void => {
    const [method, url] = [ask["m"], `${ask["u"]}`];
    const { isOfResource, name, path, isShown } = placeOf(url);
    const status = Number(head?.["s"]);
    const isMissing = method === "GET" && status === 404;
    if (isOfResource === undefined || (isMissing && name === undefined))
      remember(`${method} ${url}`, [ask, { ...head, k: "h" }, { ...end, body }]);
    else if (isShown) {
      const object = status < 300 ? parsed(body) : undefined;
      if (isMissing) drop(path);
      if (object !== undefined) takeObject(method, url, path, object);
    }
  };

  const remember = (text: string, answer: readonly Line[]): void => {
    answers.delete(text); // the latest is the last one
    answers.set(text, answer);
  };

  const isWatch = ({ ask, head }: Call): boolean =>
    /[?&]watch=(true|1)/.test(`${ask["u"]}`) && Number(head?.["s"]) < 300;

  /** Takes an input of a call. */
  const hear = (call: Call, input: Line): void => {
    const { k, n, body = "" } = input;
    const { ask } = call;
    if (k === "h") call.head = input;
    if (k === "F") call.heard += 1;
    if (k === "L") remember(`${ask["c"]}`, [ask, input]);
    if (isWatch(call)) for (const text of `${body}`.split("\n")) takeEvent(`${ask["u"]}`, text);
    else {
      call.body += `${body}`;
      if (k === "e") takeAnswer(call, input);
    }
    if (/^[Lex]$/.test(k)) calls.delete(n);
  };

  const begin = (line: Line): void => {
    const { heard = 0, ...ask } = line;
    const call = { ask: { ...ask, t: now }, body: "", heard: Number(heard), isOld: false };
    calls.set(line.n, { ...call, head: undefined });
  };

  const take = (line: Line): void => {
    const { k, n, t = now, w = wall } = line;
    now = t;
    wall = w;
    if (k === "o") for (const call of calls.values()) call.isOld = true; // a snapshot ends
    if (/^[mf]$/.test(k)) notes.set(JSON.stringify(line), line);
    const call = k === "R" ? undefined : calls.get(n); // of a read `n` is something else
    if (/^[ql]$/.test(k)) begin(line);
    else if (call !== undefined) hear(call, { ...line, t });
  };

  /** The calls that are open. One that the program has left has no line that says so. */
  const open = (): Line[] => {
    const kept = new Map<string, Call>();
    for (const call of calls.values()) {
      const { ask, heard, isOld } = call;
      const text = `${ask["c"] ?? ask["u"]}`;
      const watched = text.replaceAll(/([?&])(resourceVersion|timeoutSeconds)=[^&]*/g, "$1");
      const isWaiting = /^(stop$|signal )/.test(text) || heard > 1;
      if (isWatch(call)) kept.set(watched, call);
      else if (isWaiting || (heard === 0 && !isOld)) kept.set(`${ask.n}`, call);
    }
    return [...kept.values()].flatMap(({ ask, head, body, heard }) => [
      heard > 0 ? { ...ask, heard } : ask,
      ...(head === undefined ? [] : [head]),
      ...(body === "" ? [] : [{ k: "c", n: ask.n as number, body }]),
    ]);
  };

  const lines = (): Line[] => {
    const seen: Line[] = [];
    const left = new Map(objects);
    const read = (u: string, body: string): void => {
      const n = -1 - seen.length;
      const ask = { k: "q", n, m: "GET", u, t: now };
      seen.push(ask, { k: "h", n, s: 200, h: {} }, { k: "e", n, body });
    };
    const list = ({ url, kind, apiVersion }: Selection, keys: Set<string>, last: string): void => {
      for (const key of keys) left.delete(key);
      const texts = [...keys].flatMap((key) => objects.get(key)?.text ?? []);
      let token = "";
      for (let at = 0; at === 0 || at < texts.length; at += PAGE) {
        const page = token && `${url.includes("?") ? "&" : "?"}continue=${token}`;
        token = at + PAGE < texts.length ? `page-${seen.length}` : last;
        const metadata = { resourceVersion: `${top}`, continue: token };
        const begin = JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1);
        read(`${url}${page}`, `${begin},"items":[${texts.slice(at, at + PAGE).join(",")}]}`);
      }
    };
    for (const one of selections.values()) {
      list(one, one.keys, "");
      if (one.next !== undefined) list(one, one.next.keys, one.next.token);
    }
    const others = [...left].filter(([, { text }]) => text !== undefined);
    for (const [path, { text }] of others.slice(-MOST)) read(path, `${text}`);
    const answered = [...answers.values()].slice(-MOST).flat();
    const time = { k: "o", t: now, ...(wall !== undefined && { w: wall }) };
    return [...notes.values(), ...answered, ...open(), ...seen, time];
  };
  return { take, lines };
}
