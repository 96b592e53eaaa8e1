// All scripts, by the group that is recorded in one file.
import type { Script } from "./script.ts";
import { applies } from "./scripts/applies.ts";
import { builtIns } from "./scripts/built-ins.ts";
import { conversions } from "./scripts/conversions.ts";
import { coordination } from "./scripts/coordination.ts";
import { deletions } from "./scripts/deletions.ts";
import { details } from "./scripts/details.ts";
import { discovery } from "./scripts/discovery.ts";
import { errors } from "./scripts/errors.ts";
import { forms } from "./scripts/forms.ts";
import { lists } from "./scripts/lists.ts";
import { patches } from "./scripts/patches.ts";
import { rights } from "./scripts/rights.ts";
import { rules } from "./scripts/rules.ts";
import { schemas } from "./scripts/schemas.ts";
import { status } from "./scripts/status.ts";
import { watches } from "./scripts/watches.ts";
import { webhooks } from "./scripts/webhooks.ts";
import { writes } from "./scripts/writes.ts";
import { tables } from "./tables.ts";

/** Scripts by group. A group is recorded in `recordings/GROUP.json`. */
export const scripts: Readonly<Record<string, readonly Script[]>> = {
  writes,
  patches,
  status,
  deletions,
  applies,
  lists,
  watches,
  schemas,
  tables,
  rules,
  "built-ins": builtIns,
  coordination,
  errors,
  forms,
  details,
  discovery,
  rights,
  webhooks,
  conversions,
};
