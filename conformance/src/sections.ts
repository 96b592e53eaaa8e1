import type { Section } from "./section.ts";
import { backoffStep } from "./sections/backoff-step.ts";
import { backoffUntilCases } from "./sections/backoff-until.ts";
import { exponentialBackOffs } from "./sections/cenkalti.ts";
import { retries } from "./sections/cenkalti-retry.ts";
import { fakeClock, realClock } from "./sections/clocks.ts";
import { delayWithReset } from "./sections/delay-with-reset.ts";
import { exponentialBackoffCases } from "./sections/exponential-backoff.ts";
import { flowcontrolCases } from "./sections/flowcontrol.ts";
import { grpcCases } from "./sections/grpc.ts";
import { jitterCases } from "./sections/jitter.ts";
import { attemptSequences, forAttempt } from "./sections/jpillora.ts";
import { exponential, jittered } from "./sections/managers.ts";
import { fakeClockPolls, timerKinds, virtualPolls } from "./sections/poll.ts";
import { rateLimiters } from "./sections/rate-limiters.ts";
import { retryCases } from "./sections/retry.ts";
import { customQueue, queueTraces } from "./sections/work-queue.ts";

/** Everything that is replayed. */
export const sections: readonly Section[] = [
  backoffStep,
  jitterCases,
  exponential,
  delayWithReset,
  jittered,
  backoffUntilCases,
  attemptSequences,
  forAttempt,
  grpcCases,
  exponentialBackOffs,
  retries,
  virtualPolls,
  fakeClockPolls,
  timerKinds,
  exponentialBackoffCases,
  retryCases,
  flowcontrolCases,
  fakeClock,
  realClock,
  queueTraces,
  rateLimiters,
  customQueue,
];
