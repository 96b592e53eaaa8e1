import { formatMicroseconds } from "@holdfast/kit/kubernetes";
import type { KubeObject } from "../object/kube-object.ts";
import type { EventSeries, EventSubject } from "./event-series.ts";

/** Longest note, in bytes. */
const MAX_NOTE = 1_024;

/** Longest name, in characters. */
const MAX_NAME = 253;

// RFC 1123: other names, such as those of roles, cannot begin the name of an event.
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** An Event of `events.k8s.io/v1`. */
export interface EventObject extends KubeObject {
  /** Time of the first occurrence, with six digits. */
  eventTime: string;
  /** Name of the operator. */
  reportingController: string;
  /** Process of the operator. */
  reportingInstance: string;
  /** Step that was taken or has failed. */
  action: string;
  /** Reason of the step. */
  reason: string;
  /** The object. */
  regarding: EventSubject;
  /** Text for people. */
  note: string;
  /** `Normal` or `Warning`. */
  type: string;
  /** Repetitions, from the second occurrence on. */
  series?: EventRepetitions | undefined;
}

/** Repetitions of an event. */
export interface EventRepetitions {
  /** Occurrences, at least 2. */
  readonly count: number;
  /** Time of the latest one, with six digits. */
  readonly lastObservedTime: string;
}

/** The process that records events. */
export interface Reporter {
  readonly controller: string;
  readonly instance: string;
}

/** The event of a series, under `name`. */
export function eventOf(series: EventSeries, name: string, reporter: Reporter): EventObject {
  const { occurrence, firstAt, count } = series;
  const { regarding, type, reason, action, note } = occurrence;
  return {
    metadata: { namespace: eventNamespace(regarding), name },
    eventTime: formatMicroseconds(firstAt),
    reportingController: reporter.controller,
    reportingInstance: cutBytes(reporter.instance, 128),
    action,
    reason,
    regarding,
    note,
    type,
    ...(count > 1 && { series: repetitionsOf(series) }),
  };
}

/** The field `series` of an event. */
export function repetitionsOf({ count, lastAt }: EventSeries): EventRepetitions {
  return { count, lastObservedTime: formatMicroseconds(lastAt) };
}

/** Namespace of the events about an object: its own, or `default` for an object of cluster scope. */
export function eventNamespace({ namespace }: EventSubject): string {
  return namespace ?? "default";
}

/** Name of an event: that of the object, cut to fit, and a suffix that makes it unique. */
export function eventName(object: string, suffix: string): string {
  const cut = object.slice(0, MAX_NAME - suffix.length - 1).replace(/[-.]+$/, "");
  return `${NAME.test(cut) ? cut : "event"}.${suffix}`;
}

/** A note of at most 1,024 bytes. */
export function cutNote(note: string): string {
  return cutBytes(note, MAX_NOTE);
}

/** The start of a text that has at most `limit` bytes in UTF-8, without a torn character. */
export function cutBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const bytes = new Uint8Array(limit);
  const { read } = new TextEncoder().encodeInto(text, bytes);
  return text.slice(0, read);
}
