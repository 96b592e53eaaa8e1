/** The result of the last command, in words; undefined before the first. */
export interface CommandResult {
  readonly text: string;
  readonly state: "done" | "refused";
}

/** Sends the commands of the buttons, and keeps the last result. */
export class Commands {
  #result: CommandResult | undefined;
  readonly #onResult: () => void;

  constructor(onResult: () => void) {
    this.#onResult = onResult;
  }

  get result(): CommandResult | undefined {
    return this.#result;
  }

  /** Asks the server; its sentence is the result. */
  readonly send = (path: string, facts: Record<string, string> = {}): void => {
    void this.#send(`${path}?${new URLSearchParams(facts)}`);
  };

  async #send(url: string): Promise<void> {
    try {
      const response = await fetch(url, { method: "POST" });
      const text = (await response.text()).trim();
      this.#result = { text, state: response.ok ? "done" : "refused" };
    } catch {
      this.#result = { text: "The program does not respond.", state: "refused" };
    }
    this.#onResult();
  }
}
