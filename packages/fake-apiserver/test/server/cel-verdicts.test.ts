import { fromCrd } from "@holdfast/kubernetes";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import {
  CEL_PATH,
  celCrd,
  celObject,
  celVerdicts,
  outcomeOf,
} from "../../conformance/cel-verdicts.ts";
import { ApiKit } from "./api-kit.ts";

// Expressions that are not evaluated are reported.
beforeAll(() => void vi.spyOn(process, "emitWarning").mockImplementation(() => undefined));
afterAll(() => void vi.restoreAllMocks());

/** The differences in "What `FakeApi` does not do" of the guide. */
const LIMITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      "['a', 'b'].join() == 'ab'",
      "['a', 'b'].join('-') == 'a-b'",
      "['b', 'a'].min() == 'a'",
      "[b'b', b'a'].max() == b'b'",
      "['a', 'b'].isSorted()",
      "[1, 2, 3].slice(2, 1) == []",
      "quantity('1') != quantity('2')",
    ].map((expression) => [expression, "the cost of a rule"]),
  ),
  ...Object.fromEntries(
    [
      "'%s'.format([quantity('1Ki')]) == '1Ki'",
      "'%s'.format([ip('::1')]) == '::1'",
      "['a'].sum() == 'a'",
      "sets.contains([1], [1.0])",
      "[1] == [1.0]",
      "1.0 in [1]",
    ].map((expression) => [expression, "types of the items of lists in calls"]),
  ),
  "int(1e20) == 1": "conversions of numbers out of range",
  "string(b'\\xff') == 'x'": "conversions of numbers out of range, of bytes that are no text",
  "string(-0.0) == '-0'": "the text of -0.0",
  ".5 == 0.5": "numbers without a digit before the dot",
  "cidr('10.0.0.0/8').containsIP('no')": "the wording of errors in rules",
};

// definitions.cluster.ts gives the same expressions to a server.
it.each(Object.entries(celVerdicts))("%s: %j, as on a server", async (expression, verdict) => {
  const crd = celCrd([expression]);
  const given = await verdictOf(crd, expression);
  if (Object.hasOwn(LIMITS, expression)) expect(given).not.toEqual(verdict);
  else expect(given).toEqual(verdict);
});

async function verdictOf(crd: object, expression: string): Promise<unknown> {
  let kit: ApiKit;
  try {
    kit = new ApiKit({ resources: [fromCrd(crd)] });
  } catch {
    return "refused";
  }
  const { body } = await kit.send("POST", CEL_PATH, { body: celObject([expression]) });
  return outcomeOf(body, 0);
}
