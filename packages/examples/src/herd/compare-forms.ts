import { type Form, forms } from "./forms.ts";
import { type Measurement, type Scenario, simulate } from "./simulate.ts";

/** A form of jitter, and how the herd fared with it. */
export interface Run {
  readonly form: Form;
  readonly load: Measurement;
}

/** Puts every form of jitter through the same outage. */
export async function compareForms(outage: Scenario): Promise<Run[]> {
  const runs: Run[] = [];
  for (const form of forms) runs.push({ form, load: await simulate(form, outage) });
  return runs;
}
