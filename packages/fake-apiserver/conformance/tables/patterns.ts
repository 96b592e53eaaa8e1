import { created, type Table } from "./table.ts";

/** Patterns of RE2, each with texts that it finds and texts that it does not. */
const PATTERNS: Readonly<Record<string, readonly [pattern: string, ...texts: string[]]>> = {
  folded: ["^(?i)(debug|info|warn)?$", "INFO", "Warn", "", "inf"],
  foldedPart: ["^a(?i:b)c$", "aBc", "abc", "Abc", "aBC"],
  foldedKelvin: ["(?i)^k$", "K", "\u212a", "x"],
  foldedClass: ["^(?i)[a-f]+$", "aBcF", "g"],
  escapedWord: ["^[a-z0-9\\_-]+$", "a_b-1", "A"],
  alphabet: ["^[[:alpha:]]+$", "abC", "a1", "ä"],
  notDigits: ["^[[:^digit:]]+$", "a-b", "a1"],
  printable: ["^[[:print:]]*$", "a b~", "a\tb"],
  punctuation: ["^[[:punct:]]+$", "!~", "a"],
  whole: ["\\Aab\\z", "ab", "ab\n", "xab"],
  letters: ["^\\pL+$", "aä", "a1"],
  script: ["^\\p{Greek}+$", "\u03b1\u03b2", "a"],
  notScript: ["^\\P{Greek}+$", "ab", "\u03b1"],
  upper: ["^\\p{Lu}$", "\u00c4", "ä"],
  notUpper: ["^\\p{^Lu}$", "ä", "\u00c4"],
  dot: ["^a.b$", "axb", "a\nb", "a\rb"],
  dotAll: ["(?s)^a.b$", "axb", "a\nb"],
  lines: ["(?m)^b$", "a\nb", "ab", "a\rb"],
  space: ["^\\s$", " ", "\u00a0", "\u000b"],
  word: ["^\\w+$", "a_1", "ä"],
  border: ["\\bcat\\b", "a cat", "cats", "\u00e4cat"],
  quoted: ["^\\Qa.b\\E+$", "a.bb", "axb"],
  octal: ["^\\x41\\x{42}\\103$", "ABC", "abc"],
  named: ["^(?P<x>a)(?<y>b)$", "ab", "a"],
  brace: ["^a{,2}$", "a{,2}", "aa"],
  bracket: ["^[]a]+$", "]a", "b"],
  dash: ["^[\\w.-]+$", "a.b-c", "a/b"],
  counted: ["^(?:a{2,3}){2}$", "aaaa", "aaa"],
  lazy: ["^(?U)a+?b*$", "aab", "b"],
  empty: ["^(|a)*b$", "aab", "a"],
  domain: ["^([a-z0-9]([-a-z0-9]*[a-z0-9])?)(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a.b-c", "-a"],
  quantity: [
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?[0-9]+))?$",
    "1.5Gi",
    "Gi",
  ],
};

/** Schemas with patterns, as RE2 reads them. */
export const patterns: Table = {
  kind: "Pattern",
  spec: {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(PATTERNS).map(([name, [pattern]]) => [name, { type: "string", pattern }]),
    ),
  },
  cases: created(
    Object.fromEntries(
      Object.entries(PATTERNS).flatMap(([name, [, ...texts]]) =>
        texts.map((text, index) => [`${name} meets text ${index + 1}`, { [name]: text }]),
      ),
    ),
  ),
};
