import { RECORDING_OPTIONS } from "@holdfast/controller/recording";
import type { Kinds } from "@holdfast/kit";
import {
  all,
  anyObject,
  arrayOf,
  backoff,
  between,
  except,
  finite,
  func,
  type Kind,
  optionsOf,
  outside,
  required,
  text,
  unchecked,
  whole,
} from "../../../test/bad-input.ts";
import { FOLLOWING_OPTIONS } from "../src/cluster/cluster-options.ts";
import { HEALTH_OPTIONS } from "../src/operator/health-server.ts";
import { IMPERSONATION } from "../src/transport/impersonation.ts";
import { WEBHOOKS_OPTIONS } from "../src/webhook/webhooks-options.ts";
import { SECRET } from "./secrets.ts";

/** Refuses these texts. */
const refusing =
  (must: string, ...bad: readonly string[]): Kind =>
  (path) =>
    bad.map((value) => {
      const error = `RangeError: ${path} must ${must}, got ${JSON.stringify(value)}`;
      return { path, value, error };
    });

/** A text of a form. */
const formed = (must: string, ...bad: readonly string[]): Kind => all(text, refusing(must, ...bad));

/** An object of functions by names of the user. */
const functions =
  (pathOf: (path: string) => string): Kind =>
  (path, valid) => [
    ...anyObject(path, valid),
    { path, value: { a: 5 }, error: `TypeError: ${pathOf(path)} must be a function, got 5` },
  ];

// A key may stand where something else belongs: nothing is repeated.
const pem: Kind = (path) =>
  [null, 5, Buffer.from(SECRET), SECRET, ""].map((value) => {
    const error =
      typeof value === "string"
        ? `RangeError: ${path} must be PEM text with "-----BEGIN …", got none`
        : `TypeError: ${path} must be PEM text, got ${typeof value}`;
    return { path, value, error };
  });

const line = formed("be printable ASCII", "ä", "a\nb");

/** One of some words. */
const word =
  (words: string): Kind =>
  (path) => [
    { path, value: 5, error: `RangeError: ${path} must be ${words}, got number` },
    { path, value: "a", error: `RangeError: ${path} must be ${words}, got "a"` },
  ];

/** At least one of some words. */
const words = (some: string): Kind =>
  all(arrayOf(word(some)), (path) => [
    {
      path,
      value: [],
      error: `RangeError: ${path} must have at least one of ${some}, got an empty array`,
    },
  ]);

const CERTIFICATE = '"self", { secret } or { directory }';

/** The kinds that only this package has. */
const own: Record<string, Kind> = {
  record: anyObject,
  // The server's part of an object: the request says more about it.
  place: unchecked,
  cached: anyObject,
  namespaceName: formed(
    "be a namespace: at most 63 of a-z, 0-9 and -, no - at either end",
    ...["..", "a/b", "A", "a".repeat(64)],
  ),
  segment: formed(
    'be a name: at most 253 characters, no "/" and no "%", not "." or ".."',
    ...["..", "a/b", "a%2fb"],
  ),
  fieldManager: formed(
    "be at most 128 characters of printable ASCII",
    ...["ä", "x".repeat(129), "a\nb"],
  ),
  managers: all(
    arrayOf(text),
    except([], "RangeError: options.from must have at least one field manager, got an empty array"),
  ),
  fieldValidation: refusing('be "Ignore", "Warn" or "Strict"', "strict"),
  propagation: refusing('be "Background", "Foreground" or "Orphan"', "foreground"),
  httpMethod: refusing('be "GET", "POST", "PUT", "PATCH" or "DELETE"', "get"),
  requestPath: formed(
    'begin with "/", encoded, without a query and without the segments "." and ".."',
    ...["version", "/a?b=c", "/a#b", "/a/../b", "/a/%2e%2E", "/ä", "/a b", "/a\\b"],
  ),
  seconds: all(finite, outside("a whole number of at least 0", -1, 1.5)),
  pageSize: all(between(1, 10_000), outside("a whole number of at least 1", 1.5)),
  port: all(whole(0), outside("a number from 0 to 65535", 65_536)),
  slotCount: all(whole(1), outside("a number from 1 to 1024", 1_025)),
  leaseDuration: finite,
  renewDeadline: finite,
  retryPeriod: all(finite, outside("a number above 0", 0, -1)),
  hookName: formed(
    'be a name such as "schedule" or "schedule.crontasks.example.org"',
    ...["a.b", "A", "a_b"],
  ),
  operations: words('"CREATE" or "UPDATE" or "DELETE"'),
  mutatingOperations: words('"CREATE" or "UPDATE"'),
  failurePolicy: word('"Fail" or "Ignore"'),
  sideEffects: word('"None" or "NoneOnDryRun"'),
  reinvocation: word('"Never" or "IfNeeded"'),
  when: word('"spec" or "always"'),
  subresources: all(arrayOf(all(text, refusing('be a subresource such as "status"', "Status")))),
  labels: anyObject,
  conditions: (path, valid) => [
    ...anyObject(path, valid),
    {
      path,
      value: { spec: "true" },
      error: `RangeError: ${path} must have names such as "is-new", and not "spec", got "spec"`,
    },
    { path, value: { a: 5 }, error: `TypeError: ${path}["a"] must be a string, got 5` },
  ],
  serviceName: formed(
    "be a name of a Service: at most 63 of a-z, 0-9 and -, a letter first",
    ...["A", "1a", "a.b"],
  ),
  hooks: arrayOf((path) => [
    {
      path,
      value: {},
      error: `TypeError: ${path} must have a method review(), got [object Object]`,
    },
  ]),
  convertible: arrayOf((path) => [
    {
      path,
      value: {},
      error: `TypeError: ${path} must have a method convert(), got [object Object]`,
    },
  ]),
  certificate: (path) => [
    { path, value: 5, error: `TypeError: ${path} must be ${CERTIFICATE}, got number` },
    {
      path,
      value: {},
      error: `RangeError: ${path} must be ${CERTIFICATE}, got an object with nothing`,
    },
    {
      path,
      value: { directory: "" },
      error: `RangeError: ${path}.directory must be a non-empty string, got ""`,
    },
  ],
  checks: functions((path) => `${path}["a"]`),
  indexes: functions((path) => `${path}.a`),
  namespaces: arrayOf(unchecked),
  controllerName: formed('be a name such as "greeter" or "example.org/greeter"', "a/b/c", "ä"),
  columnPath: (path) =>
    [null, "a"].map((value) => ({
      path,
      value,
      error: `RangeError: ${path} must be a path such as ".spec.schedule", got ${JSON.stringify(value)}`,
    })),
  deprecation: (path) => [
    { path, value: 5, error: `TypeError: ${path} must be true or false, got 5` },
    {
      path,
      value: "",
      error: `RangeError: ${path} must be true, false or a text of 1 to 256 characters, got 0 characters`,
    },
  ],
  servicePort: (path) =>
    [0, 1.5, 65_536, "443"].map((value) => ({
      path,
      value,
      error: `RangeError: ${path} must be a whole number from 1 to 65535, got ${JSON.stringify(value)}`,
    })),
  keptFields: (path) =>
    [null, "a"].map((value) => ({
      path,
      value,
      error: `TypeError: ${path} must be made by keepInAnnotation, got ${JSON.stringify(value)}`,
    })),
  finalizer: formed('be a finalizer such as "example.org/cleanup"', "a", "a/", "A/a"),
  serviceAccount: formed('be "namespace/name"', "a", "a/b/c", "A/b", "-a/b", "a/--all"),
  pem,
  line,
  lines: arrayOf(line),
  extra: (path, valid) => [
    ...anyObject(path, valid),
    {
      path,
      value: { a: ["b\n"] },
      error: `RangeError: ${path}["a"][0] must be printable ASCII, got "b\\n"`,
    },
  ],
};
own["backoff"] = backoff;
own["following"] = optionsOf(FOLLOWING_OPTIONS, own);
own["derivations"] = arrayOf(required(func));
own["recording"] = optionsOf(RECORDING_OPTIONS, own);
own["health"] = optionsOf(HEALTH_OPTIONS, own);
own["webhooks"] = optionsOf(WEBHOOKS_OPTIONS, own);
own["impersonate"] = optionsOf(IMPERSONATION, own);

/**
 * The options of a door of this package.
 *
 * @param more - kinds that only this door has, by name
 */
export function options<Type extends object>(
  kinds: Kinds<Type>,
  more: Readonly<Record<string, Kind>> = {},
): Kind {
  return optionsOf(kinds, { ...own, ...more });
}
