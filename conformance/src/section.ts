import type { RuleId, RuleSet } from "./rules.ts";
import type { Fields } from "./trace.ts";

/** One array of cases in a file of golden data, and how to replay them. */
export interface Section<Case = unknown> {
  readonly file: string;
  readonly name: string;
  /**
   * What a case may consist of, `in.factor` for one. A case with anything else fails, so that nothing
   * recorded goes unnoticed.
   */
  readonly fields: readonly string[];
  /** Recorded fields that have no counterpart here, and why. They are not compared. */
  readonly unseen: Readonly<Record<string, string>>;
  /** The rules that may bear on a case, beside the one for numbers beyond 99 days. */
  readonly rules: readonly RuleId[];
  /** What Go gave. */
  recorded(kase: Case): Fields;
  /**
   * What Holdfast gives according to the rules in force. With none in force this is what Go gives,
   * and `recorded` is returned or computed anew.
   */
  predict(kase: Case, recorded: Fields, inForce: RuleSet): Fields;
  /** What Holdfast gives. Throws for a kind of case that it does not know. */
  replay(kase: Case): Fields | Promise<Fields>;
}
