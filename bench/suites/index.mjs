import { attempts } from "./attempts.mjs";
import { bundles } from "./bundles.mjs";
import { fakeClock } from "./fake-clock.mjs";
import { jitters } from "./jitters.mjs";
import { kubernetes } from "./kubernetes/index.mjs";
import { loops } from "./loops.mjs";
import { outbox } from "./outbox.mjs";
import { outboxRivals } from "./outbox-rivals.mjs";
import { recording } from "./recording.mjs";
import { replicated } from "./replicas/index.mjs";
import { scale } from "./scale/index.mjs";
import { sleeps } from "./sleeps.mjs";
import { step } from "./step.mjs";
import { webhooks } from "./webhooks.mjs";
import { workQueue } from "./work-queue.mjs";

export const suites = [
  step,
  sleeps,
  fakeClock,
  loops,
  workQueue,
  attempts,
  jitters,
  bundles,
  outbox,
  kubernetes,
  outboxRivals,
  replicated,
  scale,
  webhooks,
  recording,
];
