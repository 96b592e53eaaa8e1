import { describe, expect, inject, it } from "vitest";
import { bundleOf, type CertificateState } from "../../../src/webhook/certificates/decide.ts";
import {
  type CertificateCommand,
  keepCertificates,
} from "../../../src/webhook/certificates/keep.ts";

// Replicas that read and write in every order, with crashes, a deleted Secret and replaced configurations.
// A replica that is ready shows a certificate that every configuration trusts, unless somebody else has damaged it.
const HISTORIES = inject("isThorough") ? 10_000 : 100;

const HOUR = 3_600_000;
const AUTHORITY_LIFE = 60 * HOUR;
const LEAF_LIFE = 20 * HOUR;

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Replica {
  shown: CertificateState | undefined;
  pass: Generator<CertificateCommand<CertificateState>, void, unknown> | undefined;
  command: CertificateCommand<CertificateState> | undefined;
  /** Passes that are due. */
  due: number;
}

interface Faults {
  readonly settle?: number;
  readonly isDeleted?: boolean;
  /** Most milliseconds between two steps. */
  readonly step?: number;
}

/** One history. Returns how often a replica showed a certificate without trust or after its end, and the rotations. */
function history(seed: number, { settle = HOUR, isDeleted = false, step = 1_000 }: Faults) {
  const random = randomOf(seed);
  const pick = (count: number): number => Math.floor(random() * count);
  const sum = { untrusted: 0, expired: 0, rotations: 0 };
  let now = 0;
  let version = 0;
  let ids = 0;
  let secret: { version: string; state: CertificateState } | undefined;
  const configs = [0, 1, 2].map(() => ({
    version: "0",
    bundle: [] as readonly string[],
    isDamaged: true,
  }));
  const replicas: Replica[] = [];
  const start = (): void =>
    void replicas.push({ shown: undefined, pass: undefined, command: undefined, due: 2 });
  const wake = (): void => {
    for (const replica of replicas) replica.due = Math.max(replica.due, 2);
  };
  const authority = () => ({ id: `ca${++ids}`, from: now - HOUR, to: now + AUTHORITY_LIFE });
  const leaf = (by: { readonly id: string; readonly to: number }) => ({
    ...{ issuer: by.id, from: now - HOUR, to: Math.min(now + LEAF_LIFE, by.to), names: "n" },
  });

  const issue = (
    step: string,
    state: CertificateState | undefined,
    others: readonly string[],
  ): CertificateState => {
    if (step === "create" || state === undefined) {
      const by = authority();
      return { authority: by, last: others, leaf: leaf(by), since: now };
    }
    const { authority: by, next, last = [], leaf: current } = state;
    if (step === "promote" && next !== undefined) {
      sum.rotations++;
      return { authority: next, last: [by.id, ...last], leaf: leaf(next), since: now };
    }
    if (step === "leaf") return { ...state, leaf: leaf(by) };
    if (step === "settle") return { authority: by, leaf: current, since: now };
    return { ...state, next: authority(), since: now };
  };

  const execute = (replica: Replica, command: CertificateCommand<CertificateState>): unknown => {
    switch (command.type) {
      case "read-secret":
        return secret;
      case "read-bundle":
        return { ...configs[command.index] };
      case "issue":
        return issue(command.step, command.state, command.last);
      case "show":
        replica.shown = command.state;
        return undefined;
      case "write-secret":
        if (secret?.version !== command.version) return undefined;
        secret = { version: String(++version), state: command.state };
        wake();
        return secret;
      case "write-bundle": {
        const config = configs[command.index];
        if (config === undefined || config.version !== command.version) return undefined;
        Object.assign(config, {
          bundle: command.bundle,
          version: String(++version),
          isDamaged: false,
        });
        wake(); // it is watched
        return config;
      }
    }
  };

  const advance = (replica: Replica): void => {
    replica.pass ??= keepCertificates({
      ...{ bundles: configs.length, shown: replica.shown, now, future: now, names: "n", settle },
    });
    const answer = replica.command && execute(replica, replica.command);
    const { done, value } = replica.pass.next(answer);
    replica.command = done === true ? undefined : (value as typeof replica.command);
    if (done !== true) return;
    replica.pass = undefined;
    replica.due--;
  };

  const check = (): void => {
    for (const { shown } of replicas) {
      if (shown === undefined) continue;
      const isTrusted = configs.every(
        ({ isDamaged, bundle }) => isDamaged || bundle.includes(shown.leaf.issuer),
      );
      if (!isTrusted) sum.untrusted++;
      if (now > shown.leaf.to) sum.expired++;
    }
  };

  for (let n = 0; n < 3; n++) start();
  for (let round = 0; round < 120; round++) {
    now += HOUR * random() * 2; // nothing happens
    wake(); // by a timer
    for (let steps = 0; replicas.some(({ due }) => due > 0); steps++) {
      if (steps > 3_000) throw new Error(`no rest in history ${seed}`);
      now += step * random();
      const busy = replicas.filter(({ due }) => due > 0);
      advance(busy[pick(busy.length)] as Replica);
      check();
      const dice = random();
      if (dice < 0.002) {
        replicas.splice(pick(replicas.length), 1); // a crash
        start();
      } else if (isDeleted && dice < 0.003 && replicas.some(({ shown }) => shown !== undefined)) {
        secret = undefined;
        wake();
      } else if (dice < 0.004) {
        Object.assign(configs[pick(3)] as object, {
          bundle: [],
          isDamaged: true,
          version: String(++version),
        });
        wake();
      }
    }
    // All replicas rest: each shows the leaf of the Secret, which every configuration trusts.
    const state = secret?.state;
    if (state === undefined) throw new Error(`no Secret in history ${seed}`);
    for (const { shown } of replicas) expect(shown?.leaf).toEqual(state.leaf);
    for (const { bundle } of configs) expect(bundle).toEqual(bundleOf(state));
  }
  return sum;
}

function histories(count: number, faults: Faults) {
  const sum = { untrusted: 0, expired: 0, rotations: 0 };
  for (let seed = 1; seed <= count; seed++) {
    const one = history(seed, faults);
    for (const key of ["untrusted", "expired", "rotations"] as const) sum[key] += one[key];
  }
  return sum;
}

describe("certificates that all replicas keep", () => {
  it.each<[string, number, Faults]>([
    ["in every order", HISTORIES, {}],
    ["with pauses of up to ten seconds between two steps", HISTORIES / 5, { step: 10_000 }],
    ["with a Secret that is deleted now and then", HISTORIES / 5, { isDeleted: true }],
  ])("are trusted wherever they are shown, %s", (_, count, faults) => {
    const { untrusted, expired, rotations } = histories(count, faults);
    expect([untrusted, expired]).toEqual([0, 0]);
    expect(rotations).toBeGreaterThan(count);
  });

  it("would not be trusted without the wait between two steps", () => {
    expect(histories(100, { settle: 0 }).untrusted).toBeGreaterThan(0);
  });
});
