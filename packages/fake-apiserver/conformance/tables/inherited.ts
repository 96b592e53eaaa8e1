import type { Table } from "./table.ts";

const TEXT = { type: "string" };
const ITEM = { type: "object", properties: { a: TEXT, k: TEXT } };

/** Unknown fields below a part that keeps them, and texts in the format `duration`. */
export const inherited: Table = {
  kind: "Nest",
  spec: {
    type: "object",
    properties: {
      closed: { type: "object", properties: { item: ITEM } },
      open: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        properties: {
          item: ITEM,
          list: { type: "array", items: ITEM },
          map: { type: "object", additionalProperties: ITEM },
          keyed: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            items: { ...ITEM, required: ["k"] },
          },
        },
      },
      long: {
        type: "string",
        format: "duration",
        "x-kubernetes-validations": [{ rule: "self >= duration('1h')", message: "too short" }],
      },
    },
  },
  cases: {
    "an apply may name an unknown field below an open part, which is dropped": [
      ["apply", { open: { item: { a: "1", unknown: { b: [1] } } } }],
      ["get"],
    ],
    "an apply may name one in a list below an open part": [
      ["apply", { open: { list: [{ unknown: 1 }] } }],
    ],
    "an apply may name one in a map below an open part": [
      ["apply", { open: { map: { x: { unknown: 1 } } } }],
    ],
    "an apply may name one in a keyed list below an open part": [
      ["apply", { open: { keyed: [{ k: "1", unknown: 1 }] } }],
    ],
    "an unknown field below an open part has an owner": [
      ["apply", { open: { item: { unknown: "1" } } }],
      ["apply", { open: { item: { unknown: "2" } } }, "two"],
    ],
    "an apply must not name an unknown field elsewhere": [
      ["apply", { closed: { item: { unknown: 1 } } }],
    ],
    ...Object.fromEntries(
      ["59m", "61m", "1.5d", "2 weeks", "50 min 10 sec", "3600 sec", "0.5h", ".05d", "-1d"].map(
        (long) => [`a rule reads the duration ${long}`, [["create", { long }]]],
      ),
    ),
  },
};
