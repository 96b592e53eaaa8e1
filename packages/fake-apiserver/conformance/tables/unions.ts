import { created, type Table } from "./table.ts";

const TEXT = { type: "string", maxLength: 50 };
const WHOLE = { type: "integer" };

/** Unions by rules and by combinations, as the API groups of networks and of secrets have them. */
export const unions: Table = {
  kind: "Union",
  spec: {
    type: "object",
    properties: {
      route: {
        type: "object",
        required: ["type"],
        properties: {
          type: { type: "string", enum: ["Exact", "Prefix", "Pattern"] },
          exact: TEXT,
          prefix: TEXT,
          pattern: TEXT,
        },
        "x-kubernetes-validations": [
          { rule: "(self.type == 'Exact') == has(self.exact)", message: "exact belongs to Exact" },
          {
            rule: "(self.type == 'Prefix') == has(self.prefix)",
            message: "prefix belongs to Prefix",
            fieldPath: ".prefix",
          },
          {
            rule: "self.type != 'Prefix' || self.prefix.startsWith('/')",
            messageExpression: "'a prefix begins with a slash, not with ' + self.prefix",
            reason: "FieldValueForbidden",
          },
        ],
      },
      source: {
        type: "object",
        properties: { secret: TEXT, file: TEXT, value: TEXT },
        "x-kubernetes-validations": [
          {
            rule: "[has(self.secret), has(self.file), has(self.value)].filter(x, x).size() == 1",
            message: "exactly one source",
          },
        ],
      },
      one: {
        type: "object",
        properties: { a: TEXT, b: TEXT },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
      },
      any: {
        type: "object",
        properties: { a: TEXT, b: WHOLE },
        anyOf: [{ required: ["a"] }, { properties: { b: { minimum: 5 } }, required: ["b"] }],
      },
      both: {
        type: "object",
        properties: { a: TEXT, b: TEXT },
        allOf: [{ required: ["a"] }, { not: { required: ["b"] } }],
      },
      port: {
        "x-kubernetes-int-or-string": true,
        anyOf: [{ type: "integer" }, { type: "string" }],
        "x-kubernetes-validations": [
          {
            rule: "type(self) == int ? self > 0 && self < 65536 : self.matches('^[a-z]+$')",
            message: "a port",
          },
        ],
      },
      memory: {
        "x-kubernetes-int-or-string": true,
        pattern: "^[0-9]+(Mi|Gi)?$",
        "x-kubernetes-validations": [
          { rule: "quantity(string(self)).isLessThan(quantity('4Gi'))", message: "less than 4Gi" },
        ],
      },
      backends: {
        type: "array",
        maxItems: 4,
        items: {
          type: "object",
          required: ["name"],
          properties: {
            name: TEXT,
            filters: {
              type: "array",
              maxItems: 3,
              items: {
                type: "object",
                properties: { redirect: { type: "object", properties: { path: TEXT } } },
              },
            },
          },
          "x-kubernetes-validations": [
            {
              rule: "!has(self.filters) || self.filters.size() == 0 || !has(self.filters[0].redirect) || has(self.filters[0].redirect.path)",
              message: "a redirect needs a path",
            },
          ],
        },
        "x-kubernetes-validations": [
          {
            rule: "self.all(a, self.exists_one(b, b.name == a.name))",
            message: "names are unique",
          },
        ],
      },
      hosts: {
        type: "object",
        maxProperties: 3,
        additionalProperties: {
          ...TEXT,
          "x-kubernetes-validations": [{ rule: "isURL(self)", message: "a URL" }],
        },
        "x-kubernetes-validations": [
          { rule: "self.all(k, k.matches('^[a-z-]+$'))", message: "names of letters" },
        ],
      },
      window: {
        type: "object",
        properties: {
          start: { type: "string", format: "date-time" },
          end: { type: "string", format: "date-time" },
          least: { type: "string", format: "duration" },
        },
        "x-kubernetes-validations": [
          {
            rule: "!has(self.start) || !has(self.end) || self.end - self.start >= duration('1h')",
            message: "at least an hour",
          },
          {
            rule: "!has(self.least) || self.least >= duration('1m')",
            message: "at least a minute",
          },
        ],
      },
    },
  },
  cases: created({
    "the member of its type is there": { route: { type: "Exact", exact: "a" } },
    "the member of its type is missing": { route: { type: "Exact" } },
    "the member of another type is there": { route: { type: "Pattern", exact: "a" } },
    "a member beside another is named by its path": { route: { type: "Pattern", prefix: "/a" } },
    "a message is computed": { route: { type: "Prefix", prefix: "a" } },
    "a rule fails where it reads what is missing": { route: { type: "Prefix" } },
    "a type is unknown": { route: { type: "Other", exact: "a" } },
    "exactly one source is there": { source: { file: "a" } },
    "no source is there": { source: {} },
    "two sources are there": { source: { file: "a", value: "b" } },
    "oneOf finds one member": { one: { a: "1" } },
    "oneOf finds two members": { one: { a: "1", b: "1" } },
    "oneOf finds no member": { one: {} },
    "anyOf finds a member by a limit": { any: { b: 5 } },
    "anyOf finds no member": { any: { b: 4 } },
    "allOf and not agree": { both: { a: "1" } },
    "allOf refuses what not finds": { both: { a: "1", b: "1" } },
    "allOf misses a field": { both: {} },
    "a port is a number": { port: 80 },
    "a port is a name": { port: "http" },
    "a port is too large": { port: 70_000 },
    "a port is no name": { port: "HTTP" },
    "a port is a boolean": { port: true },
    "memory is a quantity": { memory: "512Mi" },
    "memory is a number": { memory: 1024 },
    "memory is too much": { memory: "8Gi" },
    "memory has no unit of its pattern": { memory: "1k" },
    "names of a list are unique": { backends: [{ name: "a" }, { name: "b" }] },
    "names of a list are twice": { backends: [{ name: "a" }, { name: "a" }] },
    "presence is asked of an item": { backends: [{ name: "a", filters: [{ redirect: {} }] }] },
    "presence is found in an item": {
      backends: [{ name: "a", filters: [{ redirect: { path: "/" } }] }],
    },
    "a map has URLs": { hosts: { a: "https://example.org:8080/x" } },
    "a map has a URL with a bad port": { hosts: { a: "https://example.org:port/x" } },
    "a map has a bad key": { hosts: { A: "https://example.org" } },
    "a window is long enough": {
      window: { start: "2026-01-01T00:00:00Z", end: "2026-01-01T01:00:00Z" },
    },
    "a window is too short": {
      window: { start: "2026-01-01T00:00:00Z", end: "2026-01-01T00:59:59Z" },
    },
    "a window crosses zones": {
      window: { start: "2026-01-01T00:00:00+02:00", end: "2025-12-31T23:30:00Z" },
    },
    "a duration is long enough": { window: { least: "90s" } },
    "a duration is too short": { window: { least: "59s" } },
    "a duration is none": { window: { least: "soon" } },
  }),
};
