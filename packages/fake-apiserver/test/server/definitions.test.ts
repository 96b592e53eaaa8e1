import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { definitions } from "../../conformance/definitions.ts";

function make(crd: object): FakeApi {
  return new FakeApi({ clock: new FakeClock(), resources: [fromCrd(crd)] });
}

// definitions.cluster.ts gives the same definitions to a server.
it.each(definitions)(
  "a definition with %s: accepted is %j, as by a server",
  (_, isAccepted, crd) => {
    if (isAccepted) make(crd);
    else
      expect(() => make(crd)).toThrow(
        /: a server refuses the CustomResourceDefinition of Thing: \S/,
      );
  },
);
