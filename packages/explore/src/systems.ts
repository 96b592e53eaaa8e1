import type { Clock } from "@holdfast/clock";
import { seededRandom } from "@holdfast/wait/strategies";
import type { ResolvedExplore } from "./explore-options.ts";
import type { Replica } from "./replica.ts";

/** Which program runs: that of the last release, or that of this one. */
export type Version = "old" | "new";

/** The systems outside of the program, as the test has made them for one world, and the version that works on them. */
export class Systems<Outside> {
  readonly outside: Outside;
  readonly #options: ResolvedExplore<Outside>;
  #version: Version;
  #revision: string | undefined;

  /** Changes of the state that somebody has noticed. */
  changes = 0;

  constructor(options: ResolvedExplore<Outside>, clock: Clock, version: Version) {
    this.#options = options;
    this.#version = version;
    this.outside = options.world({ clock, random: seededRandom(options.seed) });
    options.onVersion(this.outside, version);
  }

  get state(): unknown {
    return this.#options.stateOf(this.outside);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#options.countsOf(this.outside);
  }

  /** Another text after each change of the state. */
  get revision(): string {
    return this.#options.revisionOf(this.outside);
  }

  /** Whether the state is another one than at the last call. */
  hasChanged(): boolean {
    const last = this.#revision;
    this.#revision = this.revision;
    if (this.#revision === last) return false;
    this.changes += 1;
    return true;
  }

  /** The other version takes over. */
  changeVersion(): void {
    this.#version = this.#version === "new" ? "old" : "new";
    this.#options.onVersion(this.outside, this.#version);
  }

  /** Runs the program in a replica, until it ends. */
  async run(replica: Replica): Promise<void> {
    const { run, upgradeFrom = run } = this.#options;
    await (this.#version === "new" ? run : upgradeFrom)(replica.context(this.outside));
  }
}
