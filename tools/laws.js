// The laws of this repository that a linter can see, each a rule of its own, so that a report and an
// exception both name the law. A law is made of bans; each ban says what to do instead.

const timers =
  "Use the injected Clock: clock.sleep(delay, { signal }) or clock.afterFunc(delay, fire).";
const reading =
  "Use the injected Clock: clock.now() is the wall, clock.monotonic() measures durations.";
const drawing =
  "Use the injected Random: take `random` as an option, and uuidFrom(random) of @holdfast/kit for an id.";
const listening =
  "Use onAbort, or hand the signal on, as in clock.sleep(delay, { signal }): a signal carries one listener of ours.";

const loops =
  ":matches(ForStatement, ForInStatement, ForOfStatement, WhileStatement, DoWhileStatement)";
const repeating =
  "Repeat through loop() in loop.ts, or retry(): stopping, sliding and cleaning up are right there, and only there.";

const repeatingLater =
  "Repeat after a delay with loop() of @holdfast/wait, or with retry or every: they stop at once and clean up.";

/** The rules, by name; eslint.config.js says where each holds. */
export const laws = {
  "time-is-an-argument": law({
    globals: {
      setTimeout: timers,
      clearTimeout: timers,
      setInterval: timers,
      clearInterval: timers,
      setImmediate: timers,
      clearImmediate: timers,
      performance: reading,
      Date: reading,
    },
    members: {
      "AbortSignal.timeout": "Use the injected Clock: clock.timeout(delay).",
      "process.hrtime": reading,
      "process.uptime": reading,
    },
    modules: {
      timers,
      "timers/promises": timers,
      perf_hooks: reading,
    },
  }),

  "chance-is-an-argument": law({
    members: {
      "Math.random": drawing,
      "crypto.randomUUID": drawing,
      "crypto.getRandomValues": drawing,
      "crypto.randomBytes": drawing,
    },
    imports: {
      "crypto.randomUUID": drawing,
      "crypto.randomBytes": drawing,
      "crypto.randomInt": drawing,
      "crypto.webcrypto": drawing,
    },
  }),

  "signals-do-not-pile-up": law({
    members: {
      "AbortSignal.any":
        "Link by hand and release in `finally`: every AbortSignal.any leaves something on a signal that lives on.",
    },
  }),

  "one-listener-per-signal": law({
    imports: { "events.addAbortListener": listening },
    syntax: {
      'CallExpression[callee.property.name="addEventListener"][arguments.0.value="abort"]':
        listening,
      'AssignmentExpression[left.property.name="onabort"]': listening,
    },
  }),

  "one-loop": law({
    syntax: {
      [`${loops} AwaitExpression`]: repeating,
      "ForOfStatement[await=true]": repeating,
      'MemberExpression[property.name="fired"]': repeating,
    },
  }),

  "loops-do-not-sleep": law({
    syntax: {
      [`${loops} CallExpression[callee.property.name=/^sleep(Until)?$/]`]: repeatingLater,
      'MemberExpression[property.name="fired"]': repeatingLater,
    },
  }),

  "exports-are-named": law({
    syntax: {
      ExportAllDeclaration: "Name each export: the public surface is a list that a reader can see.",
      ExportDefaultDeclaration:
        "Name the export after its file: one thing has one name everywhere.",
    },
  }),

  "test-names-state-facts": law({
    syntax: {
      "CallExpression[callee.name=/^(it|test)$/][arguments.0.value=/^should /]":
        'Say what happens, in the present tense: "stops inside a delay", not "should stop".',
    },
  }),
};

/**
 * Makes a rule of bans, each a name or a selector with its message.
 *
 * `globals` also covers the same name read from `globalThis`; `members` covers destructuring;
 * `modules` and `imports` name Node's modules without their `node:`.
 *
 * @returns {import("eslint").Rule.RuleModule}
 */
function law({ globals = {}, members = {}, modules = {}, imports = {}, syntax = {} }) {
  return {
    meta: { type: "problem", schema: [] },
    create(context) {
      const report = (node, message) => context.report({ node, message });

      const checkMember = (node, object, property) => {
        const message =
          members[`${object}.${property}`] ??
          (object === "globalThis" && Object.hasOwn(globals, property)
            ? globals[property]
            : undefined);
        if (message !== undefined) report(node, message);
      };

      const checkModule = (node) => {
        const module = String(node.source?.value).replace(/^node:/, "");
        if (Object.hasOwn(modules, module)) report(node, modules[module]);
        for (const { imported } of node.specifiers ?? []) {
          const message = imports[`${module}.${imported?.name}`];
          if (message !== undefined) report(node, message);
        }
      };

      return {
        Program(node) {
          for (const { identifier } of globalReferences(context.sourceCode.getScope(node)))
            if (Object.hasOwn(globals, identifier.name) && !isConversion(identifier))
              report(identifier, globals[identifier.name]);
        },
        MemberExpression(node) {
          checkMember(node, nameOf(node.object), propertyName(node));
        },
        "VariableDeclarator[id.type='ObjectPattern']"(node) {
          for (const property of node.id.properties)
            checkMember(property, nameOf(node.init), property.key?.name);
        },
        "ImportDeclaration, ImportExpression, ExportNamedDeclaration[source]": checkModule,
        ...Object.fromEntries(
          Object.entries(syntax).map(([selector, message]) => [
            selector,
            (node) => report(node, message),
          ]),
        ),
      };
    },
  };
}

/** Every use of a name, as a value, that no declaration in the file explains. */
function globalReferences(globalScope) {
  return [
    ...globalScope.through,
    ...globalScope.variables.flatMap((variable) => variable.references),
  ].filter(
    ({ identifier, isValueReference }) =>
      isValueReference && identifier.parent.type !== "TSTypeQuery",
  );
}

/** `new Date(value)`, `Date.parse` and `Date.UTC` convert a time they were given; they read none. */
function isConversion({ name, parent }) {
  if (name !== "Date") return false;
  if (parent.type === "NewExpression") return parent.arguments.length > 0;
  return parent.type === "MemberExpression" && ["parse", "UTC"].includes(propertyName(parent));
}

/** The last name of `Math`, `globalThis.Math` and the like. */
function nameOf(node) {
  return node?.type === "MemberExpression" ? propertyName(node) : node?.name;
}

function propertyName({ property, computed }) {
  return computed ? property.value : property.name;
}
