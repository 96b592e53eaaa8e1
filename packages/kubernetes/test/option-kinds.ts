import { RECORDING_OPTIONS } from "@holdfast/controller/recording";
import {
  all,
  anyObject,
  arrayOf,
  backoff,
  between,
  finite,
  func,
  type Kind,
  optionsOf,
  outside,
  refuses,
  required,
  text,
  unchecked,
  whole,
} from "../../../test/bad-input.ts";
import { SECRET } from "./secrets.ts";

/** Refuses these values. */
const refusing = (must: string, ...bad: readonly unknown[]): Kind =>
  refuses(`RangeError: PATH must ${must}, got GOT`, ...bad);

/** A text of a form. */
const formed = (must: string, ...bad: readonly string[]): Kind => all(text, refusing(must, ...bad));

/** An object of functions by names of the user. */
const functions = (path: string): Kind =>
  all(anyObject, refuses(`TypeError: ${path} must be a function, got 5`, { a: 5 }));

// A key may stand where something else belongs: nothing is repeated.
const pem = all(
  refuses("TypeError: PATH must be PEM text, got object", null, Buffer.from(SECRET)),
  refuses("TypeError: PATH must be PEM text, got number", 5),
  refuses('RangeError: PATH must be PEM text with "-----BEGIN …", got none', SECRET, ""),
);

const line = formed("be printable ASCII", "ä", "a\nb");

/** One of some words. */
const word = (words: string): Kind =>
  all(refuses(`RangeError: PATH must be ${words}, got number`, 5), refusing(`be ${words}`, "a"));

/** At least one of some words. */
const words = (some: string): Kind =>
  all(
    arrayOf(word(some)),
    refuses(`RangeError: PATH must have at least one of ${some}, got an empty array`, []),
  );

const CERTIFICATE = '"self", { secret } or { directory }';

/** The kinds that only this package has. */
export const own = {
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
    refuses("RangeError: PATH must have at least one field manager, got an empty array", []),
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
  conditions: all(
    anyObject,
    refuses('RangeError: PATH must have names such as "is-new", and not "spec", got "spec"', {
      spec: "true",
    }),
    refuses('TypeError: PATH["a"] must be a string, got 5', { a: 5 }),
  ),
  serviceName: formed(
    "be a name of a Service: at most 63 of a-z, 0-9 and -, a letter first",
    ...["A", "1a", "a.b"],
  ),
  hooks: arrayOf(refuses("TypeError: PATH must have a method review(), got [object Object]", {})),
  convertible: arrayOf(
    refuses("TypeError: PATH must have a method convert(), got [object Object]", {}),
  ),
  certificate: all(
    refuses(`TypeError: PATH must be ${CERTIFICATE}, got number`, 5),
    refuses(`RangeError: PATH must be ${CERTIFICATE}, got an object with nothing`, {}),
    refuses('RangeError: PATH.directory must be a non-empty string, got ""', { directory: "" }),
  ),
  checks: functions('PATH["a"]'),
  indexes: functions("PATH.a"),
  namespaces: arrayOf(unchecked),
  controllerName: formed('be a name such as "greeter" or "example.org/greeter"', "a/b/c", "ä"),
  columnPath: refusing('be a path such as ".spec.schedule"', null, "a"),
  deprecation: all(
    refuses("TypeError: PATH must be true or false, got 5", 5),
    refuses(
      "RangeError: PATH must be true, false or a text of 1 to 256 characters, got 0 characters",
      "",
    ),
  ),
  servicePort: refusing("be a whole number from 1 to 65535", 0, 1.5, 65_536, "443"),
  keptFields: refuses("TypeError: PATH must be made by keepInAnnotation, got GOT", null, "a"),
  finalizer: formed('be a finalizer such as "example.org/cleanup"', "a", "a/", "A/a"),
  serviceAccount: formed('be "namespace/name"', "a", "a/b/c", "A/b", "-a/b", "a/--all"),
  pem,
  line,
  lines: arrayOf(line),
  extra: all(
    anyObject,
    refuses('RangeError: PATH["a"][0] must be printable ASCII, got "b\\n"', { a: ["b\n"] }),
  ),
  following: "FOLLOWING_OPTIONS",
  recording: optionsOf(RECORDING_OPTIONS, { derivations: arrayOf(required(func)) }),
  backoff,
  health: "HEALTH_OPTIONS",
  webhooks: "WEBHOOKS_OPTIONS",
  impersonate: "IMPERSONATION",
};
