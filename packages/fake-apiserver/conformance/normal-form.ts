// What two servers must agree on: answers without times, and with versions, uids and tokens replaced by
// their relations.
import { isServed } from "./resources.ts";
import { type Answer, isUncompared, namespaceOf, type Script, type Uncompared } from "./script.ts";

/** A value of JSON. Keys of objects are sorted. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

type Fields = Readonly<Record<string, unknown>>;

/**
 * The answers of one run in the form in which they are recorded and compared.
 *
 * | In the answers | In the normal form |
 * | --- | --- |
 * | a version | `version N`: the N-th smallest of the run, so equal and greater versions stay so |
 * | a uid | `uid N`: the N-th that the run shows |
 * | a time of the server | `(time)` |
 * | a continue token | `(token)` |
 * | a generated name | its prefix and `(random)` |
 * | the namespace of the script | `(namespace)` |
 * | the message of a Status | left out, unless the script compares messages; also hashes and addresses in discovery |
 * | resources and groups in discovery | those that scripts use, by name |
 * | advice of FakeApi on a kind that it lacks | left out |
 * | a part that the script does not compare on any server | left out |
 */
export function normalForm(script: Script, answers: readonly Answer[]): Json {
  const versions = [...new Set(valuesOf(answers, "resourceVersion"))]
    .filter((version) => /^[1-9]\d*$/.test(version))
    .sort((a, b) => Number(BigInt(a) - BigInt(b)));
  const uids = [...new Set(valuesOf(answers, "uid"))];
  const namespace = namespaceOf(script);
  const { managers = false, messages = false } = script;
  const json = new Normalizer({ versions, uids, namespace, managers, messages }).value(answers);
  const uncompared = script.uncompared?.filter(({ on }) => on === undefined) ?? [];
  return without(json, [], uncompared);
}

function without(json: Json, path: readonly string[], uncompared: readonly Uncompared[]): Json {
  if (typeof json !== "object" || json === null) return json;
  const kept = Object.entries(json)
    .filter(([name]) => !isUncompared([...path, name], uncompared))
    .map(([name, one]) => [name, without(one, [...path, name], uncompared)] as const);
  return Array.isArray(json) ? kept.map(([, one]) => one) : Object.fromEntries(kept);
}

/** All strings of a field, in the order in which they appear. */
function valuesOf(value: unknown, name: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesOf(one, name));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === name && typeof one === "string" ? [one] : valuesOf(one, name),
  );
}

interface Known {
  readonly versions: readonly string[];
  readonly uids: readonly string[];
  readonly namespace: string;
  readonly managers: boolean;
  readonly messages: boolean;
}

const ADVICE = /: FakeApi does not serve .*/;

class Normalizer {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  value(value: unknown): Json {
    if (Array.isArray(value)) return value.map((one) => this.value(one));
    if (typeof value === "string")
      return value.replaceAll(this.#known.namespace, "(namespace)").replace(ADVICE, "");
    if (typeof value !== "object" || value === null) return value as Json;
    const fields = value as Fields;
    if (fields["kind"] === "Status" && fields["apiVersion"] === "v1") return this.#status(fields);
    return this.#fields(withoutUnserved(fields));
  }

  #fields(fields: Fields): Json {
    const entries = Object.entries(fields).flatMap(([name, one]): [string, Json][] => {
      const json = this.#field(name, one, fields);
      return json === undefined ? [] : [[name, json]];
    });
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #field(name: string, value: unknown, siblings: Fields): Json | undefined {
    switch (name) {
      case "resourceVersion":
        return label("version", this.#known.versions, value);
      case "uid":
        return label("uid", this.#known.uids, value);
      case "creationTimestamp":
      case "deletionTimestamp":
        return typeof value === "string" ? "(time)" : (value as Json);
      case "continue":
        return value === "" ? "" : "(token)";
      case "name":
        return nameOf(this.value(value), siblings["generateName"]);
      case "managedFields":
        return this.#known.managers ? this.#managersOf(value) : undefined;
      case "storageVersionHash":
      case "serverAddressByClientCIDRs":
        return undefined;
      default:
        return this.value(value);
    }
  }

  #managersOf(value: unknown): Json {
    const managers = (value as Fields[]).map(({ time: _, ...manager }) => this.#fields(manager));
    return managers.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }

  #status(fields: Fields): Json {
    const { message, metadata: _, details, ...others } = fields;
    // The server of the recordings names the authorizer that refused.
    const text = withoutError(String(message)).replace(/: no role grants it$/, "");
    const causes = (details as Fields | undefined)?.["causes"];
    // The message lists the causes in the random order in which they were found.
    const isOrdered = !Array.isArray(causes) || causes.length === 1;
    const rest =
      this.#known.messages && isOrdered && message !== undefined
        ? { ...others, message: text }
        : others;
    if (typeof details !== "object" || details === null) return this.#fields(rest);
    const { causes: _causes, ...more } = details as Fields;
    if (!Array.isArray(causes)) return this.#fields({ ...rest, details });
    return this.#fields({ ...rest, details: { ...more, causes: this.#causesOf(causes) } });
  }

  /** Causes by field: the server checks the fields of a schema in a random order. */
  #causesOf(causes: readonly Fields[]): Fields[] {
    const kept = causes.map(({ message, ...cause }) =>
      this.#known.messages ? { ...cause, message: withoutError(String(message)) } : cause,
    );
    return kept.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
}

/** A message without the text of an error in CEL, which each library words by itself, and without addresses. */
function withoutError(message: string): string {
  return message
    .replace(/(Invalid value: "\w+": ).* evaluating rule: /s, "$1(error) evaluating rule: ")
    .replace(/(resulted in error: ).*$/s, "$1(error)")
    .replace(/Post "[^"]*"/g, 'Post "(url)"')
    .replace(/dial tcp [\d.:]+/g, "dial tcp (address)");
}

function label(word: string, known: readonly string[], value: unknown): Json {
  const index = known.indexOf(value as string);
  return index === -1 ? (value as Json) : `${word} ${index + 1}`;
}

function nameOf(name: Json, prefix: unknown): Json {
  const isGenerated =
    typeof name === "string" && typeof prefix === "string" && name.startsWith(prefix);
  return isGenerated ? `${prefix}(random)` : name;
}

/** A document of discovery without the rest of what a server has. */
function withoutUnserved(fields: Fields): Fields {
  const lists = { APIResourceList: "resources", APIGroupList: "groups" } as const;
  const list = lists[fields["kind"] as keyof typeof lists];
  if (list === undefined) return fields;
  const group = String(fields["groupVersion"] ?? "");
  const served = (fields[list] as Fields[])
    .filter(({ name }) => isServed(group, String(name)))
    .sort((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1));
  return { ...fields, [list]: served };
}
