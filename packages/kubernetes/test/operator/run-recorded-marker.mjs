// Runs the operator of recorded-marker.mjs with a recording, until it is killed: URL DIRECTORY [SEGMENT_BYTES]
import { silentLogger } from "@holdfast/controller";
import { atUrl, runOperator } from "@holdfast/kubernetes";
import { setup } from "./recorded-marker.mjs";

const [, , url = "", directory = "", bytes] = process.argv;
const segments = bytes === undefined ? {} : { segmentBytes: Number(bytes), flushInterval: 10 };
await runOperator({
  ...{ name: "marker", transport: atUrl(url), setup, logger: silentLogger, signals: process },
  ...{
    health: false,
    leaderElection: { namespace: "default" },
    recording: { directory, ...segments },
  },
});
