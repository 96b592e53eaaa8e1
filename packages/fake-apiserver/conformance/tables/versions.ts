import type { Paths, Table } from "./table.ts";

const TEXT = { type: "string" };

const version = (name: string, properties: object, more: object) => ({
  name,
  served: true,
  storage: false,
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties } },
    },
  },
  ...more,
});

const read =
  (name: string) =>
  ({ of }: Paths) =>
    ({ method: "GET", path: `${of(name)}/a` }) as const;

const write =
  (name: string, spec: object) =>
  ({ of }: Paths) =>
    ({
      method: "POST",
      path: of(name),
      body: {
        apiVersion: `tables.example.org/${name}`,
        kind: "Version",
        metadata: { name: "a" },
        spec,
      },
    }) as const;

/** Several versions without a conversion: the stored one drops and fills in. */
export const versions: Table = {
  kind: "Version",
  spec: {},
  versions: [
    version(
      "v1",
      {
        both: TEXT,
        only1: TEXT,
        filled: { type: "string", default: "one" },
        early: { type: "string", default: "early" },
      },
      { storage: true },
    ),
    version(
      "v1beta1",
      {
        both: TEXT,
        only2: TEXT,
        filled: { type: "string", default: "two" },
        early: TEXT,
        later: { type: "string", default: "later" },
      },
      {
        deprecated: true,
        deprecationWarning: "v1beta1 is old, use v1",
      },
    ),
    version("v1alpha1", { both: TEXT }, { deprecated: true }),
  ],
  cases: {
    "an object of the stored version is read in another": [
      ["create", { both: "x", only1: "y" }],
      ["request", read("v1beta1")],
      ["get"],
    ],
    "an object of another version is stored": [
      ["request", write("v1beta1", { both: "x", only2: "y" })],
      ["request", read("v1beta1")],
      ["get"],
    ],
    "a write in another version has its defaults, where the stored version has the field": [
      ["request", write("v1beta1", { both: "x" })],
      ["get"],
      ["request", ({ of }) => ({ method: "GET", path: of("v1beta1") })],
    ],
    "a write of the stored version has no defaults of another": [
      ["create", { both: "x" }],
      ["request", read("v1beta1")],
    ],
    "a deprecated version has a warning": [["request", write("v1beta1", { both: "x" })]],
    "a deprecated version without a text has a warning": [
      ["request", write("v1alpha1", { both: "x" })],
    ],
    "a list of a deprecated version has a warning": [
      ["request", ({ of }) => ({ method: "GET", path: of("v1alpha1") })],
    ],
    "a list of another version converts": [
      ["create", { both: "x", only1: "y" }],
      ["request", ({ of }) => ({ method: "GET", path: of("v1beta1") })],
    ],
    "an apply in another version": [
      ["apply", { both: "x" }],
      [
        "request",
        ({ of }) => ({
          method: "PATCH",
          path: `${of("v1beta1")}/a`,
          query: { fieldManager: "two" },
          contentType: "application/apply-patch+yaml",
          body: {
            apiVersion: "tables.example.org/v1beta1",
            kind: "Version",
            metadata: { name: "a" },
            spec: { only2: "z" },
          },
        }),
      ],
      ["get"],
    ],
  },
};
