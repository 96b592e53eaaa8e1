// Rules in CEL, and values that they accept and refuse. Every function that Kubernetes documents is in one of them.

/** A rule of a field, with values for it. */
export interface CelRule {
  /** Name of the field. */
  readonly name: string;

  /** Schema of the field, without its rule. */
  readonly schema: object;

  readonly rule: string;

  /** Other fields of the rule. */
  readonly more?: object;

  /** Values of a new object. */
  readonly values: readonly unknown[];

  /** Values of an object before and after an update. */
  readonly updates?: readonly (readonly [unknown, unknown])[];
}

/**
 * Expressions that are true, or false, by the name of their library. The library of the fake server reports those of
 * `unevaluated`.
 */
const EXPRESSIONS: Readonly<Record<string, readonly string[]>> = {
  operators: [
    "1 + 2 * 3 == 7 && 7 / 2 == 3 && 7 % 4 == 3 && -7 / 2 == -3",
    "1.5 + 1.5 == 3.0 && 1 < 2 && 2.0 >= 2.0 && 'a' < 'b'",
    "true || 1 / 0 == 1",
    "1 / 0 == 1",
    "'a' + 'b' == 'ab' && [1] + [2] == [1, 2] && b'a' + b'b' == b'ab'",
    "2 in [1, 2] && 'a' in {'a': 1} && !(3 in [1, 2])",
    "(1 > 2 ? 'a' : 'b') == 'b'",
    "{'a': [1, 2]}.a[1] == 2",
    "[1, 2][5] == 1",
    "9223372036854775807 + 1 > 0",
    "type(1) == int && type('a') == string && type(1.0) == double && type([]) == list",
    "null == null && dyn(1) != 'a'",
    "1u + 2u == 3u && uint(3) == 3u",
  ],
  conversions: [
    "int('42') == 42 && int(3.9) == 3 && double('1.5') == 1.5 && string(42) == '42' && bool('true')",
    "bytes('abc') == b'abc' && string(b'abc') == 'abc' && string(1.5) == '1.5' && string(true) == 'true'",
    "size('héllo') == 5 && size([1, 2]) == 2 && size({'a': 1}) == 1 && 'abc'.size() == 3",
  ],
  macros: [
    "[1, 2, 3].all(x, x > 0) && [1, 2].exists(x, x == 2) && [1, 2].exists_one(x, x == 2)",
    "[1, 2, 3].map(x, x * 2) == [2, 4, 6] && [1, 2, 3].filter(x, x > 1) == [2, 3] && [1, 2].map(x, x > 1, x + 1) == [3]",
    "{'a': 1}.all(k, k == 'a') && {'a': 1}.exists(k, k == 'b')",
  ],
  strings: [
    "'hello'.charAt(1) == 'e' && 'hello'.charAt(5) == ''",
    "'hello'.charAt(6) == ''",
    "'hello'.indexOf('l') == 2 && 'hello'.indexOf('l', 3) == 3 && 'hello'.indexOf('x') == -1 && 'hello'.indexOf('') == 0",
    "'hello'.lastIndexOf('l') == 3 && 'hello'.lastIndexOf('l', 2) == 2",
    "'HeLLo'.lowerAscii() == 'hello' && 'HeLLo'.upperAscii() == 'HELLO'",
    "'aXbXc'.replace('X', '-') == 'a-b-c' && 'aXbXc'.replace('X', '-', 1) == 'a-bXc'",
    "'a,b,c'.split(',') == ['a', 'b', 'c'] && 'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'ab'.split('') == ['a', 'b']",
    "'hello'.substring(1) == 'ello' && 'hello'.substring(1, 3) == 'el'",
    "'hello'.substring(4, 2) == ''",
    "'  a b '.trim() == 'a b'",
    "'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')",
    "'hello'.matches('^h.*o$') && !'hello'.matches('^e')",
    "'%s is %d, %.2f, %s, %x, %b, %o, %e'.format(['a', 42, 1.5, true, 255, 5, 8, 1234.5]) == 'a is 42, 1.50, true, ff, 101, 10, 1.234500×10⁰³'",
    "'%s %s'.format([[1, 'a'], {'b': 2}]) == '[1, \"a\"] {\"b\":2}'",
    "strings.quote('a\"b') == '\"a\\\\\"b\"'",
  ],
  lists: [
    "[1, 2, 2].isSorted() && ![2, 1].isSorted()",
    "[1, 2].sum() == 3 && [1.5, 1.5].sum() == 3.0 && [duration('1m'), duration('1s')].sum() == duration('61s')",
    "[3, 1, 2].min() == 1 && [3, 1].max() == 3",
    "[].min() == 1",
    "[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(5) == -1",
    "[[1, 2], [3]].flatten() == [1, 2, 3]",
    "[1, 2, 3].slice(1, 3) == [2, 3]",
    "[2, 1].sort() == [1, 2]",
    "[1, 1].distinct() == [1]",
  ],
  sets: [
    "sets.contains([1, 2, 3], [1, 3]) && !sets.contains([1], [2])",
    "sets.equivalent([1, 2, 1], [2, 1]) && sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2])",
  ],
  regex: [
    "'abc 123 def 45'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''",
    "'1 22 333'.findAll('[0-9]+') == ['1', '22', '333'] && '1 22 333'.findAll('[0-9]+', 2) == ['1', '22']",
    "'1 22'.findAll('[0-9]+', 0) == [] && '1 22'.findAll('[0-9]+', -1) == ['1', '22']",
  ],
  url: [
    "isURL('https://example.org:80/') && !isURL('../relative') && isURL('/absolute')",
    "url('https://user@example.org:8080/a%20b?k=v&k=w&x=#frag').getScheme() == 'https'",
    "url('https://example.org:8080/').getHost() == 'example.org:8080' && url('https://[::1]:80/').getHost() == '[::1]:80'",
    "url('https://[::1]:80/').getHostname() == '::1' && url('https://example.org:80/').getPort() == '80' && url('/a').getPort() == ''",
    "url('https://example.org/a b').getEscapedPath() == '/a%20b' && url('https://example.org').getEscapedPath() == ''",
    "url('https://example.org/?k=v&k=w&x=').getQuery() == {'k': ['v', 'w'], 'x': ['']}",
    "url('../relative').getHost() == ''",
    "url('https://example.org') == url('https://example.org')",
  ],
  quantity: [
    "isQuantity('1.5Gi') && isQuantity('-100m') && isQuantity('1e3') && !isQuantity('1.5.2') && !isQuantity('10 Mi') && !isQuantity('L')",
    "quantity('50000000G').isInteger() && !quantity('1.5').isInteger() && quantity('9999999999999999999999999999999999999G').isInteger()",
    "quantity('50k').asInteger() == 50000 && quantity('50.703k').asApproximateFloat() == 50703.0",
    "quantity('1.5').asInteger() == 1",
    "sign(quantity('1')) == 1 && sign(quantity('-1')) == -1 && sign(quantity('0')) == 0",
    "quantity('50k').add(quantity('20k')) == quantity('70k') && quantity('50k').add(20) == quantity('50020') && quantity('50k').sub(quantity('20k')) == quantity('30k') && quantity('50k').sub(20) == quantity('49980')",
    "quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('50M').isLessThan(quantity('100Mi')) && quantity('150Mi').isGreaterThan(quantity('100Mi'))",
    "quantity('100Ki') == quantity('102400')",
    "quantity('no') == quantity('1')",
  ],
  ip: [
    "isIP('127.0.0.1') && isIP('::1') && !isIP('999.0.0.1') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0') && !isIP('010.0.0.1')",
    "ip.isCanonical('127.0.0.1') && !ip.isCanonical('2001:DB8::1') && ip.isCanonical('2001:db8::abcd')",
    "ip.isCanonical('no')",
    "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6",
    "ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified() && !ip('127.0.0.1').isUnspecified()",
    "ip('127.0.0.1').isLoopback() && ip('::1').isLoopback() && !ip('10.0.0.1').isLoopback()",
    "ip('224.0.0.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()",
    "ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast() && !ip('fd80::1').isLinkLocalUnicast()",
    "ip('192.168.0.1').isGlobalUnicast() && ip('2001:db8::1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()",
    "string(ip('2001:DB8:0:0::1')) == '2001:db8::1' && ip('2001:db8::1') == ip('2001:DB8:0::1')",
    "ip('no') == ip('::1')",
  ],
  cidr: [
    "isCIDR('192.168.0.0/24') && isCIDR('::1/128') && !isCIDR('192.168.0.0/33') && !isCIDR('192.168.0.0') && !isCIDR('::ffff:1.2.3.4/96')",
    "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && cidr('192.168.0.0/24').containsIP('192.168.0.1') && !cidr('192.168.0.0/24').containsIP('192.168.1.1')",
    "cidr('192.168.0.0/16').containsCIDR(cidr('192.168.10.0/24')) && cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('192.168.0.0/24').containsCIDR('192.168.0.0/16')",
    "cidr('192.168.1.5/24').ip() == ip('192.168.1.5') && cidr('192.168.1.5/24').prefixLength() == 24",
    "cidr('192.168.1.5/24').masked() == cidr('192.168.1.0/24') && string(cidr('192.168.1.0/24')) == '192.168.1.0/24'",
    "cidr('2001:db8::/32').containsIP(ip('2001:db8::cafe:1')) && cidr('2001:db8::/32').ip().family() == 6",
  ],
  format: [
    "!format.dns1123Label().validate('contoso-1').hasValue() && format.dns1123Label().validate('Contoso').hasValue()",
    "!format.dns1123Subdomain().validate('a.b').hasValue() && format.dns1035Label().validate('1a').hasValue()",
    "!format.qualifiedName().validate('example.org/name').hasValue() && format.qualifiedName().validate('/name').hasValue()",
    "!format.dns1123LabelPrefix().validate('a-').hasValue() && !format.dns1123SubdomainPrefix().validate('a.b-').hasValue() && !format.dns1035LabelPrefix().validate('a-').hasValue()",
    "!format.labelValue().validate('').hasValue() && format.labelValue().validate('a b').hasValue()",
    "!format.uri().validate('http://example.org').hasValue() && format.uri().validate('no uri').hasValue()",
    "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue() && format.uuid().validate('x').hasValue()",
    "!format.byte().validate('aGk=').hasValue() && format.byte().validate('a b').hasValue()",
    "!format.date().validate('2026-02-28').hasValue() && format.date().validate('2026-02-30').hasValue()",
    "!format.datetime().validate('2026-02-28T10:00:00Z').hasValue() && format.datetime().validate('x').hasValue()",
    "format.named('dns1123Label').hasValue() && !format.named('nothing').hasValue()",
    "format.dns1123Label().validate('A').value() == ['a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \\'-\\', and must start and end with an alphanumeric character (e.g. \\'my-name\\',  or \\'123-abc\\', regex used for validation is \\'[a-z0-9]([-a-z0-9]*[a-z0-9])?\\')']",
  ],
  semver: [
    "isSemver('1.2.3') && isSemver('1.2.3-rc.1+build') && !isSemver('v1.2.3') && !isSemver('1.2') && isSemver('v1.2', true)",
    "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.2.3').isGreaterThan(semver('1.2.3-rc.1')) && semver('1.2.3').compareTo(semver('1.2.3')) == 0",
    "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3 && semver('v1.2', true) == semver('1.2.0')",
    "semver('no') == semver('1.0.0')",
  ],
  time: [
    "duration('1h').getHours() == 1 && duration('90s').getMinutes() == 1 && duration('1500ms').getSeconds() == 1 && duration('1.5s').getMilliseconds() == 1500",
    "timestamp('2026-02-28T10:20:30Z').getFullYear() == 2026 && timestamp('2026-02-28T10:20:30Z').getMonth() == 1 && timestamp('2026-02-28T10:20:30Z').getDate() == 28 && timestamp('2026-02-28T10:20:30Z').getDayOfWeek() == 6",
    "timestamp('2026-02-28T23:00:00Z').getDayOfYear() == 58 && timestamp('2026-02-28T10:20:30Z').getDayOfMonth() == 27",
    "timestamp('2026-01-01T00:00:00Z') + duration('24h') == timestamp('2026-01-02T00:00:00Z') && timestamp('2026-01-02T00:00:00Z') - timestamp('2026-01-01T00:00:00Z') == duration('24h')",
    "duration('1h') > duration('59m') && duration('1m') + duration('1s') == duration('61s')",
  ],
  times: [
    "string(timestamp('2026-01-01T00:00:00Z')) == '2026-01-01T00:00:00Z' && string(timestamp('2026-01-01T00:00:00.5Z')) == '2026-01-01T00:00:00.5Z' && string(timestamp('2026-01-01T01:00:00.120+02:00')) == '2026-01-01T01:00:00.12+02:00' && string(timestamp('2026-01-01T00:00:00.123456789Z')) == '2026-01-01T00:00:00.123456789Z'",
    "int(timestamp('1970-01-01T00:00:10Z')) == 10 && timestamp(10) == timestamp('1970-01-01T00:00:10Z') && timestamp(timestamp(0)) == timestamp(0)",
    "string(duration('1h30m')) == '5400s' && string(duration('1ms')) == '0.001s' && string(duration('-1.5h')) == '-5400s' && string(duration('0s')) == '0s'",
    "duration('0') == duration('0s') && duration('+1h') == duration('1h') && duration('.5s') == duration('500ms') && duration(duration('1h')) == duration('1h') && duration('1µs') == duration('1000ns')",
    "timestamp('2026-02-28T10:20:30Z').getHours('+02:00') == 12 && timestamp('2026-02-28T10:20:30Z').getHours('-01:30') == 8 && timestamp('2026-07-01T10:20:30Z').getHours('America/New_York') == 6",
    "timestamp('2026-01-01T01:00:00Z').getDate('America/New_York') == 31 && timestamp('2026-01-01T01:00:00Z').getDayOfYear('America/New_York') == 364 && timestamp('2026-01-01T01:00:00Z').getFullYear('America/New_York') == 2025",
    "timestamp('2026-13-01T00:00:00Z' + '') == timestamp(0)",
    "duration('1d' + '') == duration('24h')",
  ],
  patterns: [
    "matches('abc', 'b') && 'abc'.matches('(?i)B') && !'abc'.matches('B')",
    "'a b'.matches('^[[:print:]]+$') && !'a\\tb'.matches('^[[:print:]]+$') && 'x1_'.matches('^[[:word:]]+$')",
    "'x'.matches('\\\\A\\\\w\\\\z') && 'ä'.matches('^\\\\pL$') && !'a'.matches('^\\\\p{Greek}$') && 'a_-'.matches('^[a-z\\\\_-]+$')",
    "'abc'.find('(?i)B') == 'b' && 'abcABC'.findAll('(?i)b') == ['b', 'B'] && 'aXb'.find('[[:upper:]]') == 'X'",
    "'a\\nb'.matches('(?s)^a.b$') && !'a\\nb'.matches('^a.b$') && 'a\\nb'.matches('(?m)^b$')",
    "'a'.matches('(' + 'a')",
  ],
  ports: [
    "!isURL('http://a:port/') && !isURL('http://a:8a') && isURL('http://a:/') && isURL('http://[::1]:80/') && !isURL('http://[::1]:x/')",
    "!isURL('http://u:p@h:x') && isURL('http://u:p@h:80') && isURL('http://a/?x=%zz') && !isURL('http://a/%zz') && isURL('*') && isURL('//h:x/p')",
  ],
  presence: [
    "has([{'a': 1}][0].a) && !has([{'a': 1}][0].b) && has({'a': {'b': 1}}['a'].b)",
    "has([{'a': 1}][1].b)",
    "has({'a': 1}.a) && !has({'a': 1}.b)",
  ],
  moreMacros: [
    "[1, 2].all(i, v, v == i + 1) && [1, 2].exists(i, v, i == 1 && v == 2) && [1, 2].existsOne(i, v, v > 1)",
    "[1, 2].transformList(i, v, v * i) == [0, 2] && [1, 2].transformList(i, v, i > 0, v) == [2]",
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && {'a': 1}.transformMap(k, v, v > 1, v) == {}",
    "{'a': 'b'}.transformMapEntry(k, v, {v: k}) == {'b': 'a'}",
    "[0, 1].exists(i, v, 1 / v == 1) && ['bb', 'a'].sortBy(x, x.size()) == ['a', 'bb'] && lists.range(3) == [0, 1, 2]",
    "{'a': 1}.all(k, v, k == 'a' && v == 1) && {'a': 1}.exists_one(k, k == 'a') && [1, 2].first().value() == 1 && [1, 2].last().value() == 2",
    "optional.ofNonZeroValue('').orValue('x') == 'x'",
    "optional.of(2).optMap(x, x * 2).value() == 4",
    "!optional.of(2).optFlatMap(x, optional.none()).hasValue()",
  ],
  unevaluated: ["[?optional.of(1), ?optional.none()] == [1] && {?'a': optional.none()} == {}"],
  ascii: ["'ÄB'.lowerAscii() == 'Äb' && 'äb'.upperAscii() == 'äB'"],
  optionals: [
    "optional.of(1) != null && optional.none() != null && optional.of(1) == optional.of(1) && {'a': 1}[?'b'] == optional.none()",
    "!(optional.of(1) == null) && optional.of(1) != optional.of(2)",

    "optional.of(1).hasValue() && !optional.none().hasValue() && optional.of(1).value() == 1 && optional.none().orValue(2) == 2",
    "optional.none().or(optional.of(3)).value() == 3",
    "{'a': 1}.?a.orValue(0) == 1 && {'a': 1}.?b.orValue(0) == 0 && [1][?3].orValue(7) == 7",
  ],
};

const TEXT = { type: "string", maxLength: 60 };
const INTEGER = { type: "integer" };
const TEXTS = { type: "array", maxItems: 5, items: { type: "string", maxLength: 10 } };
const BOTH = {
  type: "object",
  properties: { min: INTEGER, max: INTEGER, name: TEXT, note: { ...TEXT, nullable: true } },
};

/** All rules. */
export const CEL_RULES: readonly CelRule[] = [
  ...Object.entries(EXPRESSIONS).flatMap(([library, expressions]) =>
    expressions.map((expression, index) => ({
      name: `${library}${index + 1}`,
      schema: { type: "boolean" },
      rule: `self == (${expression})`,
      values: [true, false],
    })),
  ),
  { name: "minimum", schema: INTEGER, rule: "self >= 3", values: [3, 2] },
  {
    name: "worded",
    schema: INTEGER,
    rule: "self >= 3",
    more: { message: "must be at least 3" },
    values: [2],
  },
  {
    name: "computed",
    schema: TEXT,
    rule: "self.startsWith('a')",
    more: { messageExpression: "'must begin with a, got ' + self" },
    values: ["b"],
  },
  {
    name: "reasoned",
    schema: INTEGER,
    rule: "self >= 3",
    more: { reason: "FieldValueForbidden", message: "too small" },
    values: [2],
  },
  {
    name: "pathed",
    schema: BOTH,
    rule: "self.min <= self.max",
    more: { fieldPath: ".max", message: "max must not be below min" },
    values: [{ min: 1, max: 2 }, { min: 2, max: 1 }, { min: 2 }],
  },
  {
    name: "present",
    schema: BOTH,
    rule: "!has(self.name) || self.name.startsWith('a')",
    values: [{}, { name: "ann" }, { name: "bob" }],
  },
  {
    name: "nullable",
    schema: BOTH,
    rule: "!has(self.note) || self.note == 'x'",
    values: [{ note: null }, { note: "x" }, { note: "y" }],
  },
  {
    name: "fixed",
    schema: TEXT,
    rule: "self == oldSelf",
    more: { message: "cannot change" },
    values: ["a"],
    updates: [
      ["a", "a"],
      ["a", "b"],
      [undefined, "b"],
      ["a", undefined],
    ],
  },
  {
    name: "growing",
    schema: INTEGER,
    rule: "!oldSelf.hasValue() || self > oldSelf.value()",
    more: { optionalOldSelf: true },
    values: [1],
    updates: [
      [1, 2],
      [2, 1],
      [undefined, 1],
    ],
  },
  {
    name: "items",
    schema: TEXTS,
    rule: "self.all(x, x.size() > 1) && self.size() < 4",
    values: [["aa"], ["a"], ["aa", "bb", "cc", "dd"], []],
  },
  {
    name: "sorted",
    schema: TEXTS,
    rule: "self.isSorted() && self.min() == 'a' && self.max() == 'c' && self.join() == 'abc' && self.join('-') == 'a-b-c'",
    values: [
      ["a", "b", "c"],
      ["a", "c", "b"],
    ],
  },
  { name: "converted", schema: TEXT, rule: "int(self) == 1", values: ["1", "2", "x"] },
  {
    name: "stamped",
    schema: TEXT,
    rule: "timestamp(self) < timestamp('2026-01-01T00:00:00Z')",
    values: ["2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "x"],
  },
  {
    name: "keyed",
    schema: {
      type: "array",
      maxItems: 5,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: TEXT,
          size: {
            type: "integer",
            "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "must not shrink" }],
          },
        },
      },
    },
    rule: "self.all(x, x.name != 'x')",
    values: [[{ name: "a" }], [{ name: "x" }]],
    updates: [
      [
        [{ name: "a", size: 1 }],
        [
          { name: "b", size: 0 },
          { name: "a", size: 2 },
        ],
      ],
      [
        [
          { name: "a", size: 1 },
          { name: "b", size: 3 },
        ],
        [
          { name: "b", size: 2 },
          { name: "a", size: 1 },
        ],
      ],
    ],
  },
  {
    name: "setOf",
    schema: { ...TEXTS, "x-kubernetes-list-type": "set" },
    rule: "self == ['a', 'b']",
    values: [
      ["a", "b"],
      ["b", "a"],
    ],
  },
  {
    name: "mapOf",
    schema: { type: "object", maxProperties: 5, additionalProperties: { type: "integer" } },
    rule: "self.all(k, self[k] > 0) && 'a' in self",
    values: [{ a: 1 }, { a: 0 }, { b: 1 }],
  },
  {
    name: "escaped",
    schema: {
      type: "object",
      properties: {
        "max-size": INTEGER,
        namespace: TEXT,
        "a.b": INTEGER,
        a__b: INTEGER,
        if: INTEGER,
        "x/y": INTEGER,
        $ref: INTEGER,
      },
    },
    rule: "(!has(self.max__dash__size) || self.max__dash__size > 1) && (!has(self.__namespace__) || self.__namespace__ == 'n') && (!has(self.a__dot__b) || self.a__dot__b > 1) && (!has(self.a__underscores__b) || self.a__underscores__b > 1) && (!has(self.__if__) || self.__if__ > 1) && (!has(self.x__slash__y) || self.x__slash__y > 1)",
    values: [
      { "max-size": 2, namespace: "n", "a.b": 2, a__b: 2, if: 2, "x/y": 2 },
      { "max-size": 1 },
      { namespace: "m" },
      { "a.b": 1 },
      { a__b: 1 },
      { if: 1 },
      { "x/y": 1 },
    ],
  },
  {
    name: "reserved",
    schema: { type: "object", properties: { namespace: TEXT, if: INTEGER } },
    rule: "(!has(self.namespace) || self.namespace == 'n') && (!has(self.if) || self.if > 1)",
    values: [{ namespace: "n", if: 2 }, { namespace: "m" }, { if: 1 }, {}],
  },
  {
    name: "either",
    schema: { "x-kubernetes-int-or-string": true, maxLength: 10 },
    rule: "type(self) == int ? self > 1 : self.endsWith('%')",
    values: [2, 1, "5%", "5"],
  },
  {
    name: "number",
    schema: { type: "number" },
    rule: "self > 1.5 && self == 2.0",
    values: [2, 1.5, 2.5],
  },
  {
    name: "timed",
    schema: { type: "string", format: "date-time" },
    rule: "self > timestamp('2026-01-01T00:00:00Z') && self.getFullYear() == 2026",
    values: ["2026-02-01T00:00:00Z", "2025-01-01T00:00:00Z"],
  },
  {
    name: "dated",
    schema: { type: "string", format: "date" },
    rule: "self > timestamp('2026-01-01T00:00:00Z')",
    values: ["2026-02-01", "2025-01-01"],
  },
  {
    name: "lasting",
    schema: { type: "string", format: "duration" },
    rule: "self >= duration('1m')",
    values: ["2m", "30s"],
  },
  {
    name: "encoded",
    schema: { type: "string", format: "byte", maxLength: 20 },
    rule: "self == b'hi'",
    values: ["aGk=", "aGo="],
  },
  {
    name: "address",
    schema: TEXT,
    rule: "isIP(self) && ip(self).family() == 4",
    values: ["10.0.0.1", "::1", "x"],
  },
  {
    name: "size",
    schema: TEXT,
    rule: "quantity(self).isLessThan(quantity('10Gi'))",
    values: ["1Gi", "10Gi", "x"],
  },
  {
    name: "nested",
    schema: {
      type: "object",
      properties: {
        inner: {
          ...BOTH,
          "x-kubernetes-validations": [{ rule: "self.min != 5" }],
        },
      },
    },
    rule: "!has(self.inner) || self.inner.max != 6",
    values: [{ inner: { min: 1, max: 1 } }, { inner: { min: 5, max: 6 } }, {}],
  },
  {
    name: "multiline",
    schema: INTEGER,
    rule: "self > 1 &&\n self < 3",
    more: { message: "must be 2" },
    values: [2, 3],
  },
];
