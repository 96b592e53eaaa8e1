import { formatDuration } from "../../../terminal/duration.ts";
import type { ProcessSnapshot } from "../snapshot.ts";

/** "planned 1.04s, measured 1.05s (+4ms)". */
export function describeWait({ planned, measured }: ProcessSnapshot["waits"][number]): string {
  const plan = `planned ${formatDuration(planned)}`;
  if (measured === undefined) return `${plan}, under way`;
  // To the millisecond: the difference is the point.
  const difference = Math.round(measured - planned);
  const sign = difference < 0 ? "−" : "+";
  return `${plan}, measured ${formatDuration(measured)} (${sign}${Math.abs(difference)}ms)`;
}
