import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Holdfast, type RunOptions } from "../holdfast.ts";

/** A manifest in a folder of its own, until the test ends. */
export function manifestFile(yaml: string): string {
  const file = join(tempFolder(onTestFinished), "manifest.yaml");
  writeFileSync(file, yaml);
  return file;
}

/** A built `holdfast run` in a process of its own. */
export class Supervised extends Holdfast {
  readonly file: string;

  constructor(yaml: string, args: readonly string[] = [], options: RunOptions = {}) {
    const file = manifestFile(yaml);
    const env = { XDG_RUNTIME_DIR: dirname(file), ...options.env };
    super(["run", file, ...args], { ...options, env });
    this.file = file;
  }

  /** Environment of other commands that look for this supervisor. */
  get env(): NodeJS.ProcessEnv {
    return { XDG_RUNTIME_DIR: dirname(this.file) };
  }

  /** Waits until a process is reported as running for the nth time, and returns its pid. */
  async pidOf(name: string, nth = 1): Promise<number> {
    const lines = `(?:[\\s\\S]*?\\b${name}: Running, pid (\\d+)\\r?\\n){${nth}}`;
    const [, pid] = await this.printed(new RegExp(lines));
    return Number(pid);
  }

  /** Replaces the manifest. */
  edit(yaml: string): void {
    writeFileSync(this.file, yaml);
  }

  /** Address of the page, without the token that a terminal shows. */
  async url(): Promise<string> {
    const [, url = ""] = await this.printed(/its page: (http:[^\s?]+)\S*\r?\n/);
    return url;
  }
}
