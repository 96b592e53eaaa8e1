import { z } from "zod";

/** The fields of a schedule, in the order of crontab(5). */
const FIELDS = ["minute", "hour", "dayOfMonth", "month", "dayOfWeek"] as const;

const field = z.string().regex(/^\S+$/).default("*");

/** The schedule of `v1`: a text. */
export const scheduleText = z.string().describe("Five fields, as in crontab(5)");

/** The schedule of `v2`: a field for each part of the text. */
export const scheduleFields = z.object({
  minute: field,
  hour: field,
  dayOfMonth: field,
  month: field,
  dayOfWeek: field,
});

type Fields = { [Name in (typeof FIELDS)[number]]?: string | undefined };

/** The schedule of `v2` from that of `v1`. A part of an object may lack it. */
function split(text: string | undefined): Fields | undefined {
  const parts = text?.split(" ");
  return parts && Object.fromEntries(FIELDS.map((name, index) => [name, parts[index] ?? "*"]));
}

function join(fields: Fields | undefined): string | undefined {
  return fields && FIELDS.map((name) => fields[name] ?? "*").join(" ");
}

/** Between `v1` and the hub, `v2`. All other fields are the same in both. */
export const v1 = {
  toHub<Rest extends object>({ spec }: { spec: Rest & { schedule?: string | undefined } }) {
    return { spec: { ...spec, schedule: split(spec.schedule) } };
  },
  fromHub<Rest extends object>({ spec }: { spec: Rest & { schedule?: Fields | undefined } }) {
    return { spec: { ...spec, schedule: join(spec.schedule) } };
  },
};
