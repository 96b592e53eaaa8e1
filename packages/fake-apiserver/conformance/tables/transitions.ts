import type { Table } from "./table.ts";

const TEXT = { type: "string", maxLength: 20 };

/** Rules about a change, and values that were stored before their schema would have refused them. */
export const transitions: Table = {
  kind: "Transition",
  spec: {
    type: "object",
    properties: {
      fixed: {
        ...TEXT,
        "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed" }],
      },
      once: {
        ...TEXT,
        "x-kubernetes-validations": [
          {
            rule: "!oldSelf.hasValue() || oldSelf.value() == self",
            optionalOldSelf: true,
            message: "set once",
          },
        ],
      },
      grows: {
        type: "integer",
        "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "must not shrink" }],
      },
      map: {
        type: "object",
        maxProperties: 5,
        additionalProperties: {
          type: "integer",
          "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "must not shrink" }],
        },
      },
      list: {
        type: "array",
        maxItems: 5,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          required: ["name"],
          properties: {
            name: TEXT,
            size: {
              type: "integer",
              "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "must not shrink" }],
            },
          },
        },
        "x-kubernetes-validations": [
          {
            rule: "oldSelf.all(o, self.exists(s, s.name == o.name))",
            message: "an item must not go",
          },
        ],
      },
      note: TEXT,
    },
    "x-kubernetes-validations": [
      { rule: "has(self.fixed) == has(oldSelf.fixed)", message: "fixed stays or stays away" },
      { rule: "!has(self.note) || self.note != 'bad'", message: "a bad note" },
    ],
  },
  status: {
    type: "object",
    required: ["phase"],
    properties: {
      phase: { type: "string", maxLength: 5, enum: ["Wait", "Done"] },
      count: { type: "integer" },
    },
    "x-kubernetes-validations": [
      {
        rule: "!has(oldSelf.count) || (has(self.count) && self.count >= oldSelf.count)",
        message: "counts up",
      },
    ],
  },
  cases: {
    "a fixed field stays": [
      ["create", { fixed: "a" }],
      ["update", { fixed: "a", note: "x" }],
    ],
    "a fixed field changes": [
      ["create", { fixed: "a" }],
      ["update", { fixed: "b" }],
    ],
    "a fixed field goes": [
      ["create", { fixed: "a" }],
      ["update", {}],
    ],
    "a fixed field comes": [
      ["create", {}],
      ["update", { fixed: "a" }],
    ],
    "a merge patch changes a fixed field": [
      ["create", { fixed: "a" }],
      ["merge", { spec: { fixed: "b" } }],
    ],
    "an apply changes a fixed field": [
      ["apply", { fixed: "a" }],
      ["apply", { fixed: "b" }],
    ],
    "a field is set once": [
      ["create", {}],
      ["update", { once: "a" }],
      ["update", { once: "b" }],
    ],
    "a number grows": [
      ["create", { grows: 1 }],
      ["update", { grows: 2 }],
    ],
    "a number shrinks": [
      ["create", { grows: 2 }],
      ["update", { grows: 1 }],
    ],
    "entries of a map grow": [
      ["create", { map: { a: 1, b: 1 } }],
      ["update", { map: { a: 2, c: 0 } }],
    ],
    "an entry of a map shrinks": [
      ["create", { map: { a: 1, b: 1 } }],
      ["update", { map: { a: 1, b: 0 } }],
    ],
    "an item with the same key shrinks": [
      [
        "create",
        {
          list: [
            { name: "a", size: 1 },
            { name: "b", size: 5 },
          ],
        },
      ],
      [
        "update",
        {
          list: [
            { name: "b", size: 4 },
            { name: "a", size: 2 },
          ],
        },
      ],
    ],
    "items change places": [
      [
        "create",
        {
          list: [
            { name: "a", size: 1 },
            { name: "b", size: 5 },
          ],
        },
      ],
      [
        "update",
        {
          list: [
            { name: "b", size: 5 },
            { name: "a", size: 1 },
          ],
        },
      ],
    ],
    "an item goes": [
      ["create", { list: [{ name: "a" }, { name: "b" }] }],
      ["update", { list: [{ name: "b" }] }],
    ],
    "a rule of the whole is checked in every update": [
      ["create", { note: "x" }],
      ["update", { note: "bad" }],
    ],
    "a status needs its fields": [
      ["create", {}],
      ["status", {}],
    ],
    "a status is accepted": [
      ["create", {}],
      ["status", { phase: "Wait" }],
    ],
    "a status has a value of another type": [
      ["create", {}],
      ["status", { phase: 1 }],
    ],
    "a status has an unknown value": [
      ["create", {}],
      ["status", { phase: "Gone" }],
    ],
    "a status has a long value": [
      ["create", {}],
      ["status", { phase: "Waiting" }],
    ],
    "a status has an unknown field": [
      ["create", {}],
      ["status", { phase: "Wait", more: 1 }],
    ],
    "a status is a text": [
      ["create", {}],
      ["status", "x"],
    ],
    "a status is null": [
      ["create", {}],
      ["status", null],
    ],
    "a status counts up": [
      ["create", {}],
      ["status", { phase: "Wait", count: 1 }],
      ["status", { phase: "Wait", count: 2 }],
    ],
    "a status counts down": [
      ["create", {}],
      ["status", { phase: "Wait", count: 2 }],
      ["status", { phase: "Done", count: 1 }],
    ],
    "a status is applied": [
      ["create", {}],
      ["applyStatus", { phase: "Wait" }, "status"],
    ],
    "a wrong status is applied": [
      ["create", {}],
      ["applyStatus", { phase: "Gone" }, "status"],
    ],
    "a wrong type of a status is applied": [
      ["create", {}],
      ["applyStatus", { count: "x", phase: "Wait" }, "status"],
    ],
    "a create drops the status": [["createObject", { spec: {}, status: { phase: "Gone" } }]],
    "a create warns about unknown fields of the status": [
      ["createObject", { spec: {}, status: { more: 1 } }],
    ],
    "an update keeps the status": [
      ["create", {}],
      ["status", { phase: "Wait" }],
      ["updateObject", { spec: { note: "x" }, status: { phase: "Done" } }],
    ],
    "a status write keeps the spec": [
      ["create", { note: "x" }],
      ["request", ({ object }) => ({ method: "GET", path: object, id: "now" })],
      [
        "request",
        ({ object }) => ({
          method: "PATCH",
          path: `${object}/status`,
          contentType: "application/merge-patch+json",
          body: { spec: { note: "bad" }, status: { phase: "Done" } },
        }),
      ],
    ],
  },
};
