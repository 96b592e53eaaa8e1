import { pen } from "../picture/pen.ts";
import { picture } from "../picture/picture.ts";
import { type Curve, chart } from "./chart.ts";
import { type Measurement, STATIONS, simulate } from "./simulate.ts";

/** Two lengths of frames, and how long each network is watched: long enough for figures to settle. */
const SERIES = [
  { bytes: 1_518, duration: 3_000, classes: "blue", mark: pen.circle },
  { bytes: 64, duration: 500, classes: "orange", mark: pen.square },
];

/** Networks with ever more stations, and how they are drawn. */
type Series = (typeof SERIES)[number] & { readonly networks: readonly Measurement[] };

/** Draws the load of a wire over the number of stations. Keyed by file name. */
export async function pictures(seed: number): Promise<Map<string, string>> {
  const all: Series[] = [];
  for (const series of SERIES) {
    const { bytes, duration } = series;
    const networks: Measurement[] = [];
    for (const stations of STATIONS)
      networks.push(await simulate({ stations, bytes, duration, seed }));
    all.push({ ...series, networks });
  }
  return new Map([["ethernet.svg", draw(all)]]);
}

function draw(all: readonly Series[]): string {
  const roomForAll = STATIONS;
  const roomForMost = STATIONS.filter((stations) => stations !== 4);
  return picture({
    width: 760,
    height: 624,
    title:
      "Throughput, frames given up and the capture effect of an Ethernet with 1 to 256 stations",
    elements: [
      pen.text("An Ethernet on which every station always has something to send", [24, 32], "name"),
      pen.text(
        "10 Mbit/s, longest cable, truncated binary exponential backoff; over the number of stations",
        [24, 56],
        "quiet",
      ),
      ...legend(84),
      ...chart({
        frame: { left: 64, right: 732, top: 132, bottom: 332 },
        title: "throughput",
        stations: roomForAll,
        curves: [...formula(all), ...measured(all, ({ efficiency }) => efficiency)],
      }),
      ...chart({
        frame: { left: 64, right: 366, top: 412, bottom: 572 },
        title: "frames given up",
        stations: roomForMost,
        curves: measured(all, ({ dropShare }) => dropShare),
      }),
      ...chart({
        frame: { left: 430, right: 732, top: 412, bottom: 572 },
        title: "next frame from the same station",
        stations: roomForMost,
        curves: [fair, ...measured(all, ({ repeated }) => repeated)],
      }),
    ],
  });
}

function measured(all: readonly Series[], share: (network: Measurement) => number): Curve[] {
  return all.map(({ networks, classes, mark }) => ({
    points: networks.map((network) => ({ stations: network.stations, share: share(network) })),
    classes,
    mark,
  }));
}

function formula(all: readonly Series[]): Curve[] {
  return all.map(({ networks, classes }) => ({
    points: networks.map(({ stations, formula }) => ({ stations, share: formula })),
    classes: `${classes} dashed`,
  }));
}

/** If all stations had the same chance. */
const fair: Curve = {
  points: STATIONS.map((stations) => ({ stations, share: 1 / stations })),
  classes: "ink dashed",
};

function legend(y: number): string[] {
  const lengths = SERIES.flatMap(({ bytes, classes, mark }, index) => {
    const left = 24 + index * 200;
    return [
      pen.line([left, y - 4], [left + 28, y - 4], `${classes} line`),
      mark([left + 14, y - 4], `${classes} dot`),
      pen.text(`frames of ${bytes.toLocaleString("en-US")} bytes`, [left + 36, y], "quiet"),
    ];
  });
  return [
    ...lengths,
    pen.line([424, y - 4], [452, y - 4], "ink line dashed"),
    pen.text("by the formula, or if it were fair", [460, y], "quiet"),
  ];
}
