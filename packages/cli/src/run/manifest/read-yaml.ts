import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from "yaml";

/** A mistake in a text, before its line is known. */
export interface Flaw {
  readonly offset: number;
  readonly message: string;
}

/** A parsed text. */
export interface Yaml {
  readonly document: Document;
  /** Tells the line of an offset. */
  readonly counter: LineCounter;
  /** Nothing is read from a document with flaws. */
  readonly flaws: readonly Flaw[];
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
  /** Its values as plain data. */
  value(): unknown;
}

/** Most values of a text; an alias counts as all that it stands for. */
const MOST_VALUES = 20_000;
/** Most aliases. Each costs a look at all anchors. */
const MOST_ALIASES = 1_000;

/** Parses a text of a stranger: in a time that grows with its length, whatever it says. */
export function readYaml(text: string): Yaml {
  const counter = new LineCounter();
  // The parser compares each key of a mapping with all others.
  const options = { prettyErrors: false, merge: true, uniqueKeys: false, lineCounter: counter };
  const document = parseDocument(text, options);
  const survey = new Survey();
  const values = survey.count(document.contents);
  if (values > MOST_VALUES)
    survey.report(0, `has more than ${MOST_VALUES} values, with those of its aliases`);
  if (survey.aliases > MOST_ALIASES) survey.report(0, `has more than ${MOST_ALIASES} aliases`);
  const flaws = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    offset: pos[0],
    message: `not valid YAML: ${message}`,
  }));
  return {
    document,
    counter,
    flaws: [...flaws, ...survey.flaws],
    targets: survey.targets,
    // The parser's own limit refuses an anchor that is used often, and counts in a time that grows with its square.
    value: () => document.toJS({ maxAliasCount: -1 }),
  };
}

/** One look at each node, in the order of the text. */
class Survey {
  readonly flaws: Flaw[] = [];
  readonly targets = new Map<Alias, Node>();
  aliases = 0;
  /** The anchors so far, each with the number of its values; undefined while it is open. */
  readonly #anchors = new Map<string, { readonly node: Node; values: number | undefined }>();

  report(offset: number, problem: string): void {
    this.flaws.push({ offset, message: `not valid YAML: ${problem}` });
  }

  /** How many values a node has. */
  count(node: Node | null | undefined): number {
    if (isAlias(node)) return this.#countAlias(node);
    const own = { node: node as Node, values: undefined as number | undefined };
    if (isScalar(node) || isMap(node) || isSeq(node)) {
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, own);
    }
    own.values = 1 + this.#countIn(node);
    return own.values;
  }

  #countIn(node: Node | null | undefined): number {
    if (isSeq<Node>(node)) return node.items.reduce((sum, item) => sum + this.count(item), 0);
    if (!isMap<Node | null, Node | null>(node)) return 0;
    const keys = new Set<unknown>();
    return node.items.reduce((sum, { key, value }) => {
      if (isScalar(key)) {
        if (keys.has(key.value)) this.report(key.range?.[0] ?? 0, "Map keys must be unique");
        keys.add(key.value);
      } else if (isMap(key) || isSeq(key) || isAlias(key))
        // As text, a mapping in a key of a mapping in a key costs time that doubles with each.
        this.report(key.range?.[0] ?? 0, "Map keys must be text");
      return sum + this.count(key) + this.count(value);
    }, 0);
  }

  #countAlias(alias: Alias): number {
    const { source, range } = alias;
    this.aliases++;
    const anchor = this.#anchors.get(source);
    if (anchor?.values !== undefined) {
      this.targets.set(alias, anchor.node);
      return anchor.values;
    }
    const problem =
      anchor === undefined ? `has no anchor &${source} before it` : `is within its anchor`;
    this.report(range?.[0] ?? 0, `*${source} ${problem}`);
    return 1;
  }
}
