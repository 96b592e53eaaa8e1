import { X509Certificate } from "node:crypto";
import { inspect } from "node:util";
import { BaseClock, type Clock, type Timer } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { SelfCertificates } from "../../../src/webhook/certificates/self-certificates.ts";
import { trustTargets } from "../../../src/webhook/certificates/trust-targets.ts";
import type { TlsPair } from "../../../src/webhook/webhook-server.ts";
import { quietLogger } from "../../secrets.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Configuration = KubeObject & {
  webhooks: { name: string; clientConfig: { caBundle?: string; service: object } }[];
};
const Validating = builtIn<Configuration>(
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
);
const Secret = builtIn<KubeObject & { data?: Record<string, string> }>("v1", "Secret");
const Crd = builtIn<KubeObject & { spec: object }>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
);

const service = { name: "hooks", namespace: "default" };
const SECRET = { name: "hooks-certificates", namespace: "default" };
const NAMES = ["hooks.default.svc", "hooks.default.svc.cluster.local"];

const configuration = () => ({
  metadata: { name: "cron" },
  webhooks: ["a.b.c", "d.e.f"].map((name) => ({ name, clientConfig: { service } })),
});

/** The clock of a machine whose wall clock is ahead. */
class AheadClock extends BaseClock {
  ahead: number;
  readonly #clock: Clock;

  constructor(clock: Clock, ahead: number) {
    super();
    this.#clock = clock;
    this.ahead = ahead;
  }

  override now(): number {
    return this.#clock.now() + this.ahead;
  }

  override monotonic(): number {
    return this.#clock.monotonic();
  }

  override afterFunc(delay: number, fire: () => void): Timer {
    return this.#clock.afterFunc(delay, fire);
  }
}

interface Replica {
  readonly shown: TlsPair[];
  readonly certificates: SelfCertificates;
  stop(): Promise<void>;
}

function world() {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Validating, Secret, Crd] });
  const client = new KubeClient({ transport: api.transport, clock });
  const logger = quietLogger();
  const replica = (own: Clock = clock): Replica => {
    const shown: TlsPair[] = [];
    const certificates = new SelfCertificates({
      ...{ transport: api.transport, operator: "cron", secret: SECRET, names: NAMES },
      ...{ clock: own, random: undefined, logger, show: (pair) => void shown.push(pair) },
      targets: trustTargets({ name: "cron", types: ["validating"], definitions: [] }),
    });
    const stop = new AbortController();
    const running = certificates.run(stop.signal);
    const ended = running.catch((error: unknown) => error);
    return {
      ...{ shown, certificates },
      stop: async () => {
        stop.abort();
        await clock.step(60_000);
        expect(await ended).toBe(undefined);
      },
    };
  };
  const bundles = async (): Promise<string[]> => {
    const { webhooks } = await client.get(Validating, "cron");
    return webhooks.map(({ clientConfig: { caBundle = "" } }) =>
      Buffer.from(caBundle, "base64").toString(),
    );
  };
  return { clock, api, client, logger, replica, bundles };
}

const pems = (text = ""): X509Certificate[] =>
  (text.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
const isTrusted = (pair: TlsPair | undefined, bundle: string | undefined): boolean =>
  pair !== undefined &&
  pems(bundle).some((ca) => new X509Certificate(pair.cert).verify(ca.publicKey));

/** Lets time pass, and the work of the machine, until something is so. */
async function until(clock: FakeClock, isSo: () => unknown, step = 100): Promise<void> {
  const isSoLater = async (): Promise<unknown> => {
    await clock.step(step);
    return await isSo();
  };
  await expect.poll(isSoLater, { interval: 5 }).toBe(true);
}

describe("certificates of one's own", () => {
  it("are one for two replicas that start at once, trusted before they are shown", async () => {
    const { clock, api, client, logger, replica, bundles } = world();
    await client.create(Validating, configuration() as never);
    const both = [replica(), replica()];
    await until(clock, () => both.every(({ shown }) => shown.length > 0));
    const [one, two] = both as [Replica, Replica];
    expect(one.shown).toEqual(two.shown);
    for (const bundle of await bundles()) expect(isTrusted(one.shown[0], bundle)).toBe(true);
    const { subjectAltName, validFrom, validTo } = new X509Certificate(one.shown[0]?.cert ?? "");
    expect(subjectAltName).toBe(NAMES.map((name) => `DNS:${name}`).join(", "));
    expect(Date.parse(validTo) - Date.parse(validFrom)).toBe(90 * DAY + HOUR);
    expect(
      api.requests.filter(({ method, path }) => method === "POST" && path.includes("secrets"))
        .length,
    ).toBeGreaterThan(0);
    const { data = {} } = await client.get(Secret, SECRET);
    expect(pems(Buffer.from(data["ca.crt"] ?? "", "base64").toString())[0]?.ca).toBe(true);
    const printed = inspect(one.certificates, {
      depth: Number.POSITIVE_INFINITY,
      showHidden: true,
    });
    expect(printed + logger.lines.join("\n")).not.toMatch(/PRIVATE KEY/);
    for (const one of both) await one.stop();
  });

  it("are trusted again after somebody has replaced the configuration, or deleted the Secret", async () => {
    const { clock, client, replica, bundles } = world();
    await client.create(Validating, configuration() as never);
    const one = replica();
    await until(clock, () => one.shown.length > 0);
    const before = await bundles();
    const object = await client.get(Validating, "cron");
    await client.update(Validating, {
      ...object,
      ...{ webhooks: configuration().webhooks },
    } as never);
    expect(await bundles()).toEqual(["", ""]);
    await until(clock, async () => (await bundles()).join() === before.join());
    const { data } = await client.get(Secret, SECRET);
    await client.delete(Secret, SECRET);
    await until(clock, async () => (await client.find(Secret, SECRET)) !== undefined);
    expect((await client.get(Secret, SECRET)).data?.["tls.crt"]).toBe(data?.["tls.crt"]);
    expect(one.shown.length).toBe(1);
    await one.stop();
  });

  it("are renewed after two thirds of their time, by the same authority", async () => {
    const { clock, client, replica, bundles } = world();
    await client.create(Validating, configuration() as never);
    const one = replica();
    await until(clock, () => one.shown.length > 0);
    await one.stop();
    const before = await bundles();
    await clock.step(59 * DAY);
    const two = replica();
    await until(clock, () => two.shown.length > 0);
    expect(two.shown).toEqual(one.shown);
    await two.stop();
    await clock.step(DAY); // dated back an hour: two thirds of the time are over 20 minutes before
    const three = replica();
    await until(
      clock,
      () => three.shown.length > 0 && three.shown.at(-1)?.cert !== one.shown[0]?.cert,
    );
    expect(await bundles()).toEqual(before);
    expect(isTrusted(three.shown.at(-1), before[0])).toBe(true);
    await three.stop();
  });

  it("change their authority over hours, in which every configuration trusts both", async () => {
    const { clock, client, replica, bundles } = world();
    await client.create(Validating, configuration() as never);
    const one = replica();
    await until(clock, () => one.shown.length > 0);
    await one.stop();
    const [before] = await bundles();
    await clock.step(2_434 * DAY); // two thirds of ten years
    const two = replica();
    const count = async (): Promise<number> => pems((await bundles())[0]).length;
    await until(clock, async () => (await count()) === 2);
    expect(isTrusted(two.shown.at(-1), before)).toBe(true);
    await until(clock, () => !isTrusted(two.shown.at(-1), before), HOUR / 10);
    expect([await count(), isTrusted(two.shown.at(-1), (await bundles())[0])]).toEqual([2, true]);
    await until(clock, async () => (await count()) === 1, HOUR / 10);
    expect(isTrusted(two.shown.at(-1), (await bundles())[0])).toBe(true);
    await two.stop();
  });

  it("are replaced within ten minutes if a clock that was ahead has made them", async () => {
    const { clock, client, replica, bundles } = world();
    await client.create(Validating, configuration() as never);
    const begins = (pair: TlsPair | undefined): number =>
      Date.parse(new X509Certificate(pair?.cert ?? "").validFrom);
    for (const [name, from] of [
      ["an authority", undefined],
      ["a leaf", 61 * DAY],
    ] as const) {
      const ahead = new AheadClock(clock, from ?? 5 * HOUR);
      const one = replica(ahead);
      await until(clock, () => begins(one.shown.at(-1)) > clock.now());
      ahead.ahead = 0;
      await clock.step(5 * 60_000);
      expect(begins(one.shown.at(-1)), name).toBeGreaterThan(clock.now());
      await until(clock, () => begins(one.shown.at(-1)) < clock.now(), 60_000);
      expect(isTrusted(one.shown.at(-1), (await bundles())[0])).toBe(true);
      await one.stop();
    }
  });

  it("change once in ten minutes while two clocks are apart by more than their time", async () => {
    const { clock, api, client, replica } = world();
    await client.create(Validating, configuration() as never);
    const both = [replica(), replica(new AheadClock(clock, 100 * DAY))];
    await until(clock, () => both.every(({ shown }) => shown.length > 0));
    const writes = (): number =>
      api.requests.filter(({ method, path }) => method === "PUT" && path.includes("secrets"))
        .length;
    const before = writes();
    await until(clock, () => writes() > before + 4, 60_000);
    const start = clock.now();
    const some = writes();
    await until(clock, () => clock.now() >= start + HOUR, 60_000);
    expect(writes() - some).toBeLessThanOrEqual(2 * 2 * 6);
    for (const one of both) await one.stop();
  });

  it("keep a bundle that is as it should be", async () => {
    const { clock, client, replica, api } = world();
    await client.create(Validating, configuration() as never);
    const one = replica();
    await until(clock, () => one.shown.length > 0);
    await until(clock, () => true, HOUR);
    const writes = api.requests.filter(({ method }) => method === "PATCH").length;
    for (let n = 0; n < 5; n++) await clock.step(HOUR);
    expect(api.requests.filter(({ method }) => method === "PATCH").length).toBe(writes);
    expect(one.certificates.bundleWrites).toBe(1);
    await one.stop();
  });
});
