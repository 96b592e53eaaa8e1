import type { ObjectEvent, OwnWrite } from "../../src/cache/store.ts";
import type { ServerObject } from "../../src/object/server-object.ts";
import { greeting } from "./cache-kit.ts";

/** An event as a watch of the selector `app=a` has it, and the version after which it comes. */
export interface ModelEvent extends ObjectEvent {
  readonly version: number;
}

/** A server with one version counter. It keeps every state that a name ever had. */
export class ServerModel {
  readonly events: ModelEvent[] = [];
  /** The versions at which the objects of a UID were written, and at which it was deleted. */
  readonly deletedAt = new Map<string, number>();
  readonly #objects = new Map<string, ServerObject>();
  /** Close to 100, so that versions get another digit. */
  #version = 95;
  #uids = 0;

  get version(): number {
    return this.#version;
  }

  get(name: string): ServerObject | undefined {
    return this.#objects.get(name);
  }

  /** Creates the object, or writes it anew, with labels that match or not. */
  put(name: string, app: string): OwnWrite {
    const old = this.#objects.get(name);
    const uid = old?.metadata.uid ?? `uid-${this.#uids++}`;
    const object = greeting(name, ++this.#version, { uid, labels: { app } });
    this.#objects.set(name, object);
    this.#tell(old, object);
    return { type: "stored", object };
  }

  /** A write that changes nothing gives no version and no event. */
  putSame(name: string): OwnWrite | undefined {
    const object = this.#objects.get(name);
    return object && { type: "stored", object };
  }

  delete(name: string): OwnWrite | undefined {
    const old = this.#objects.get(name);
    if (old === undefined) return undefined;
    this.#objects.delete(name);
    this.#version++;
    this.deletedAt.set(old.metadata.uid, this.#version);
    this.#tell(old, undefined);
    const { namespace = "", uid } = old.metadata;
    return { type: "gone", name: { namespace, name }, uid };
  }

  /** The objects that match, as a list has them. */
  list(): ServerObject[] {
    return [...this.#objects.values()].filter(matches);
  }

  /** Whether the object with this UID was seen by the selector last before `version`, and not since. */
  leftBetween(uid: string, after: number, until: number): boolean {
    return this.events.some(
      ({ type, version, object }) =>
        type === "DELETED" && object.metadata.uid === uid && version > after && version <= until,
    );
  }

  #tell(old: ServerObject | undefined, now: ServerObject | undefined): void {
    const was = old !== undefined && matches(old);
    const is = now !== undefined && matches(now);
    const version = this.#version;
    if (is) this.events.push({ type: was ? "MODIFIED" : "ADDED", object: now, version });
    else if (was) {
      const metadata = { ...old.metadata, resourceVersion: String(version) };
      this.events.push({ type: "DELETED", object: { ...old, metadata }, version });
    }
  }
}

function matches({ metadata }: ServerObject): boolean {
  return metadata.labels?.["app"] === "a";
}
