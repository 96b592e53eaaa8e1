import {
  type Alias,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Parser,
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
/** Most levels: a deep text would use up the stack, at whose end Node dies without an error. */
const MOST_LEVELS = 500;

/** Parses a text of a stranger: in a time that grows with its length, whatever it says. */
export function readYaml(text: string): Yaml {
  const counter = new LineCounter();
  const survey = new Survey();
  const tooDeep = beyond(MOST_LEVELS, [...new Parser(counter.addNewLine).parse(text)]);
  if (tooDeep !== undefined) survey.report(tooDeep, `has more than ${MOST_LEVELS} levels`);
  const document = parseDocument(tooDeep === undefined ? text : "", {
    prettyErrors: false,
    merge: true,
    // The parser compares each key of a mapping with all others.
    uniqueKeys: false,
    // A tag such as !!binary makes many values of one.
    resolveKnownTags: false,
  });
  const { values, levels } = survey.measure(document.contents);
  if (values > MOST_VALUES)
    survey.report(0, `has more than ${MOST_VALUES} values, with those of its aliases`);
  if (levels > MOST_LEVELS)
    survey.report(0, `has more than ${MOST_LEVELS} levels, with those of its aliases`);
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

/** Where a token is deeper than some levels. */
function beyond(levels: number, tokens: readonly CST.Token[]): number | undefined {
  let row: readonly (CST.Token | null | undefined)[] = tokens;
  for (let level = 0; level <= levels; level++) row = row.flatMap(tokensIn);
  return row.find((token) => token != null)?.offset;
}

/** The tokens on the next level. */
function tokensIn(token: CST.Token | null | undefined): (CST.Token | null | undefined)[] {
  if (token?.type === "document") return [token.value];
  return token != null && "items" in token
    ? token.items.flatMap((item) => [item.key, item.value])
    : [];
}

/** How much a node holds, with all that its aliases stand for. */
interface Size {
  readonly values: number;
  readonly levels: number;
}

/** One look at each node, in the order of the text. */
class Survey {
  readonly flaws: Flaw[] = [];
  readonly targets = new Map<Alias, Node>();
  aliases = 0;
  /** The anchors so far, each with its size; undefined while it is open. */
  readonly #anchors = new Map<string, { readonly node: Node; size: Size | undefined }>();

  report(offset: number, problem: string): void {
    this.flaws.push({ offset, message: `not valid YAML: ${problem}` });
  }

  measure(node: Node | null | undefined): Size {
    if (isAlias(node)) return this.#measureAlias(node);
    const own = { node: node as Node, size: undefined as Size | undefined };
    if (isScalar(node) || isMap(node) || isSeq(node)) {
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, own);
    }
    own.size = this.#measureIn(node);
    return own.size;
  }

  #measureIn(node: Node | null | undefined): Size {
    const nodes = isSeq<Node>(node) ? node.items : this.#nodesIn(node);
    let [values, levels] = [1, 0];
    for (const one of nodes) {
      const size = this.measure(one);
      values += size.values;
      levels = Math.max(levels, size.levels);
    }
    return { values, levels: levels + 1 };
  }

  /** Keys and values of a mapping. */
  #nodesIn(node: Node | null | undefined): readonly (Node | null)[] {
    if (!isMap<Node | null, Node | null>(node)) return [];
    const keys = new Set<unknown>();
    return node.items.flatMap(({ key, value }) => {
      if (isScalar(key)) {
        if (keys.has(key.value)) this.report(key.range?.[0] ?? 0, "Map keys must be unique");
        keys.add(key.value);
      } else if (isMap(key) || isSeq(key) || isAlias(key))
        // As text, a mapping in a key of a mapping in a key costs time that doubles with each.
        this.report(key.range?.[0] ?? 0, "Map keys must be text");
      return [key, value];
    });
  }

  #measureAlias(alias: Alias): Size {
    const { source, range } = alias;
    this.aliases++;
    const anchor = this.#anchors.get(source);
    if (anchor?.size !== undefined) {
      this.targets.set(alias, anchor.node);
      return anchor.size;
    }
    const problem =
      anchor === undefined ? `has no anchor &${source} before it` : `is within its anchor`;
    this.report(range?.[0] ?? 0, `*${source} ${problem}`);
    return { values: 1, levels: 1 };
  }
}
