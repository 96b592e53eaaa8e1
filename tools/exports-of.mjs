// Prints the values that modules export: `node tools/exports-of.mjs '[["NAME", "SPECIFIER"], …]'`. Each
// value has the name of its function or class, and the first export that is the same value. So the
// bundles can be compared with the unbundled build: a class that two entry points export stays one class,
// and keeps its name.
const modules = JSON.parse(process.argv[2] ?? "[]");
const first = new Map();
const found = {};
for (const [name, specifier] of modules)
  for (const [key, value] of Object.entries(await import(specifier))) {
    const path = `${name} ${key}`;
    const isShared = typeof value === "function" || (typeof value === "object" && value !== null);
    if (isShared && !first.has(value)) first.set(value, path);
    found[path] = { name: value?.name, same: isShared ? first.get(value) : path };
  }
console.log(JSON.stringify(found));
