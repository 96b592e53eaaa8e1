import { expect, it } from "vitest";
import { requiredUrl } from "../../../../test/required-url.ts";
import { serviceProblem } from "../../src/outbox/service-problem.ts";
import { servicesOf } from "../../src/outbox/settings.ts";

const VARIABLES = ["DATABASE_URL", "MYSQL_URL", "AMQP_URL", "REDIS_URL"] as const;

it.each(VARIABLES)("reports no problem with the server of %s", async (variable) => {
  expect(await serviceProblem(servicesOf({ [variable]: requiredUrl(variable) }))).toBe(undefined);
});

it.each(["DATABASE_URL", "MYSQL_URL", "AMQP_URL"] as const)(
  "reports a failed login to %s",
  async (variable) => {
    const url = new URL(requiredUrl(variable));
    url.username = "nobody";
    url.password = "secret";
    const problem = await serviceProblem(servicesOf({ [variable]: url.href }));
    expect(problem).toContain(`${variable}: ${url.protocol}//${url.host}`);
    expect(problem).not.toContain("secret");
  },
);
