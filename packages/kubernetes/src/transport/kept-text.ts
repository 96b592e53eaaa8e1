import type { Redactor } from "@holdfast/controller/recording";
import { isObject, type JsonObject } from "@holdfast/kit/kubernetes";
import type { KubeRequest } from "./kube-transport.ts";

/** Requests whose bodies are secrets, and those whose bodies are anything: no recording has them. */
const LOSES_BODY = /\/(token|log|tokenreviews)(\?|$)/;

const OF_SECRETS = /\/secrets(\/|\?|$)/;
const BEGINS_JSON = /^\s*[{[]/;

/** The annotation in which `kubectl apply` leaves an object as it was applied. */
const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The texts of requests and responses of which a recording keeps a part. */
export interface KeptTexts {
  readonly redactor: Redactor;
  readonly redact: ((object: unknown) => unknown) | undefined;
}

/** Whether a recording has no bodies of a request and its response. */
export function losesBody({ path }: Pick<KubeRequest, "path">): boolean {
  return LOSES_BODY.test(path);
}

/** Whether a recording keeps a part of each object, for which its text must be whole. */
export function keepsParts(path: string, { redact }: KeptTexts): boolean {
  return OF_SECRETS.test(path) || redact !== undefined;
}

/** The part of a text that a recording keeps: of JSON, or of the lines of a watch, without the values of Secrets. */
export function keptText(path: string, text: string, kept: KeptTexts): string {
  if (!keepsParts(path, kept)) return text;
  const whole = keptValue(path, text, kept);
  if (whole !== undefined || !BEGINS_JSON.test(text)) return whole ?? text;
  // What is no JSON has been cut, and can have a part of a value: the program fails as well with less of it.
  const lines = text.split("\n").map((line) => {
    return line.trim() === "" ? line : (keptValue(path, line, kept) ?? "{");
  });
  return lines.join("\n");
}

/** Undefined if the text is no JSON. */
function keptValue(path: string, text: string, { redactor, redact }: KeptTexts) {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const object = OF_SECRETS.test(path) ? withoutValues(value, redactor) : value;
  const kept = redact === undefined ? object : partOf(object, redact);
  if (kept === undefined) return "";
  return JSON.stringify(kept) + (text.endsWith("\n") ? "\n" : "");
}

/** The values that a replayed operator writes to Secrets, for example drawn ones, are from here on those of the recording. */
export function learnRecorded(path: string, [own, recorded]: Bodies, redactor: Redactor): void {
  if (typeof own !== "string" || typeof recorded !== "string" || !OF_SECRETS.test(path)) return;
  const ofRecording: JsonObject[] = [];
  mapData(parsed(recorded), (data) => {
    ofRecording.push(data);
    return data;
  });
  mapData(parsed(own), (data, isPlain) => {
    const others = ofRecording.shift() ?? {};
    for (const [name, text] of Object.entries(data))
      if (text !== others[name])
        redactor.learn(plainOf(text, isPlain), plainOf(others[name], isPlain));
    redactor.learnDigests(JSON.stringify(data), JSON.stringify(others));
    return data;
  });
}

/** The body of a request, and that of the recorded one. */
type Bodies = readonly [own: unknown, recorded: unknown];

function plainOf(text: unknown, isPlain: boolean): string {
  return isPlain ? `${text}` : Buffer.from(`${text}`, "base64").toString();
}

/** The body of a request that a replay compares: values of Secrets have other texts in a recording. */
export function inShape(path: string, body: unknown): unknown {
  if (typeof body !== "string" || !OF_SECRETS.test(path)) return body;
  const value = parsed(body);
  return value === undefined ? body : JSON.stringify(mapData(value, names));
}

function names(data: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(data).map((name) => [name, "secret"]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A Secret, a list of them, an event of a watch, or a patch. Its values are replaced everywhere from here on. */
function withoutValues(value: unknown, redactor: Redactor): unknown {
  return mapData(value, (data, isPlain) => {
    const entries = Object.entries(data).map(([name, text]) => {
      if (typeof text !== "string") return [name, text] as const;
      return [name, isPlain ? redactor.learn(text) : learnCoded(text, redactor)] as const;
    });
    const kept = Object.fromEntries(entries);
    redactor.learnDigests(JSON.stringify(data), JSON.stringify(kept)); // programs hash all data of a Secret together
    return kept;
  });
}

/** A value in base64. One that is no text is a secret as it is coded. */
function learnCoded(coded: string, redactor: Redactor): string {
  const bytes = Buffer.from(coded, "base64");
  const text = bytes.toString();
  if (Buffer.from(text).equals(bytes)) return toBase64(redactor.learn(text));
  const by = toBase64(redactor.standIn(coded));
  redactor.learn(coded, by);
  redactor.learnDigests(bytes, Buffer.from(by, "base64"));
  return by;
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}

type MapData = (data: JsonObject, isPlain: boolean) => JsonObject;

/** Maps the data of all Secrets in a value of JSON. */
function mapData(value: unknown, map: MapData): unknown {
  if (Array.isArray(value)) return value.map((step) => mapStep(step, map));
  if (!isObject(value)) return value;
  const mapped = { ...value };
  for (const name of ["data", "stringData"])
    if (isObject(mapped[name])) mapped[name] = map(mapped[name], name === "stringData");
  if (Array.isArray(mapped["items"]))
    mapped["items"] = mapped["items"].map((item) => mapData(item, map));
  if (isObject(mapped["object"])) mapped["object"] = mapData(mapped["object"], map);
  if (isObject(mapped["metadata"])) mapped["metadata"] = mapApplied(mapped["metadata"], map);
  return mapped;
}

/** Maps the data of the Secret in an annotation. */
function mapApplied(metadata: JsonObject, map: MapData): JsonObject {
  const { annotations } = metadata;
  const text = isObject(annotations) ? annotations[APPLIED] : undefined;
  const applied = typeof text === "string" ? parsed(text) : undefined;
  if (applied === undefined) return metadata;
  const mapped = JSON.stringify(mapData(applied, map)) + (`${text}`.endsWith("\n") ? "\n" : "");
  return { ...metadata, annotations: { ...(annotations as JsonObject), [APPLIED]: mapped } };
}

/** A step of a JSON patch. */
function mapStep(step: unknown, map: MapData): unknown {
  if (!isObject(step)) return step;
  const [, part, ...names] = String(step["path"]).split("/");
  const { value } = step;
  if (part !== "data" && part !== "stringData") return { ...step, value: mapData(value, map) };
  const isPlain = part === "stringData";
  if (isObject(value)) return { ...step, value: map(value, isPlain) };
  const name = names.join("/");
  return { ...step, value: map({ [name]: value }, isPlain)[name] };
}

/** Applies `redact` to an object, to the items of a list, or to the object of an event. */
function partOf(value: unknown, redact: (object: unknown) => unknown): unknown {
  if (!isObject(value)) return value;
  const { items, object, type } = value;
  if (Array.isArray(items))
    return { ...value, items: items.map(redact).filter((item) => item !== undefined) };
  if (typeof type !== "string" || !isObject(object)) return redact(value);
  const kept = redact(object);
  return kept === undefined ? undefined : { ...value, object: kept };
}
