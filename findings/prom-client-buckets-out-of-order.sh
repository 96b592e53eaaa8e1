#!/usr/bin/env bash
# Package: prom-client 15.1.3
# Guess: buckets out of order are sorted or refused.
# Seen: neither. Counts add up in the order given, so that 1.5 counts as "at most 1", and quantiles are wrong.
. "$(dirname "$0")/lib.sh"
packages prom-client@15.1.3
observe <<'JS'
import { Histogram, Registry } from "prom-client";

for (const buckets of [[1, 2, 5], [5, 1, 2]]) {
  const histogram = new Histogram({ name: "seconds", help: "h", buckets, registers: [new Registry()] });
  histogram.observe(1.5);
  const { values } = await histogram.get();
  const counts = values.filter(({ labels }) => labels.le !== undefined);
  console.log(`buckets ${buckets}: ${counts.map(({ labels, value }) => `le=${labels.le} ${value}`).join(", ")}`);
}
JS
expect <<'TEXT'
buckets 1,2,5: le=1 0, le=2 1, le=5 1, le=+Inf 1
buckets 5,1,2: le=5 1, le=1 1, le=2 1, le=+Inf 1
TEXT
