/** The answer to the last command, in words; undefined before the first. */
export interface Answered {
  readonly text: string;
  readonly state: "done" | "refused";
}

/** Sends the commands of the buttons, and keeps the last answer. */
export class Commands {
  #answer: Answered | undefined;
  readonly #onAnswer: () => void;

  constructor(onAnswer: () => void) {
    this.#onAnswer = onAnswer;
  }

  get answer(): Answered | undefined {
    return this.#answer;
  }

  /** Asks the server; its sentence is the answer. */
  readonly send = (path: string, facts: Record<string, string> = {}): void => {
    void this.#send(`${path}?${new URLSearchParams(facts)}`);
  };

  async #send(url: string): Promise<void> {
    try {
      const response = await fetch(url, { method: "POST" });
      const text = (await response.text()).trim();
      this.#answer = { text, state: response.ok ? "done" : "refused" };
    } catch {
      this.#answer = { text: "The program does not respond.", state: "refused" };
    }
    this.#onAnswer();
  }
}
