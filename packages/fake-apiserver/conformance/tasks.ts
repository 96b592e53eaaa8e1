// A custom resource whose versions a webhook converts.

type Fields = Readonly<Record<string, unknown>>;

const GROUP = "converted.example.org";
const TEXT = { type: "string" };

const version = (name: string, spec: object, more: object) => ({
  name,
  served: true,
  storage: false,
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: { type: "object", ...spec },
        status: { type: "object", properties: { runs: { type: "integer" } } },
      },
    },
  },
  ...more,
});

/** Its manifest. Version 1 is stored; its schedule is a text, that of version 2 has fields. */
export const taskCrd: object = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `tasks.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { kind: "Task", listKind: "TaskList", plural: "tasks", singular: "task" },
    versions: [
      version(
        "v1",
        {
          required: ["schedule"],
          properties: {
            schedule: TEXT,
            zone: TEXT,
            filled: { type: "string", default: "one" },
            own: TEXT,
          },
        },
        { storage: true },
      ),
      version(
        "v2",
        {
          required: ["at"],
          properties: {
            at: { type: "object", properties: { minute: TEXT, hour: TEXT } },
            timeZone: TEXT,
            filled: { type: "string", default: "two" },
            late: { type: "string", default: "late" },
          },
        },
        {},
      ),
    ],
  },
};

/**
 * A task, or a part of one, in a version.
 *
 * @throws Error for one with the annotation `broken`
 */
export function convertTask(object: object, to: string): Record<string, unknown> {
  const task = object as Fields;
  const { annotations } = (task["metadata"] ?? {}) as { annotations?: Fields };
  if (annotations?.["broken"] !== undefined) throw new Error("it is broken");
  const spec = task["spec"];
  const isPart = typeof spec === "object" && spec !== null;
  const next = !isPart ? spec : to === "v2" ? toSecond(spec as Fields) : toFirst(spec as Fields);
  return { ...task, apiVersion: `${GROUP}/${to}`, ...(spec !== undefined && { spec: next }) };
}

function toSecond({ schedule, zone, filled }: Fields): Fields {
  const [minute, hour] = String(schedule ?? "").split(" ");
  const at = schedule === undefined ? undefined : { minute, hour };
  return defined({ at, timeZone: zone, filled });
}

function toFirst({ at, timeZone, filled }: Fields): Fields {
  const { minute = "*", hour = "*" } = (at ?? {}) as { minute?: string; hour?: string };
  return defined({ schedule: at && `${minute} ${hour}`, zone: timeZone, filled });
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
