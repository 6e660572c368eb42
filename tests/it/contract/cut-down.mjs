// Cuts GitHub's description of its API down to some routes, since a mock of all of it takes minutes to start.
//
//   node cut-down.mjs DESCRIPTION OUT 'METHOD /path/{with}/{names}'...
//
// References stay references, and what they reach is copied along. Exits with 1, naming it, where a route or the target of
// a reference is missing.

import { readFileSync, writeFileSync } from 'node:fs';

const [description, out, ...routes] = process.argv.slice(2);
const whole = JSON.parse(readFileSync(description, 'utf8'));
const paths = {};
const components = {};
const waiting = [];

function fail(why) {
  console.error(`${description}: ${why}`);
  process.exit(1);
}

// Notes the references within a part of the description.
function walk(part) {
  if (part === null || typeof part !== 'object') return;
  if (typeof part.$ref === 'string') waiting.push(part.$ref);
  Object.values(part).forEach(walk);
}

for (const route of routes) {
  const [method, path] = route.split(' ');
  const { parameters, [method.toLowerCase()]: operation } = whole.paths[path] ?? {};
  if (!operation) fail(`there is no ${route}`);
  paths[path] ??= parameters ? { parameters } : {};
  paths[path][method.toLowerCase()] = operation;
}
walk(paths);

let count = 0;
while (waiting.length > 0) {
  const reference = waiting.pop();
  const [, kind, name] = reference.match(/^#\/components\/([^/]+)\/([^/]+)$/) ?? fail(`${reference} leads elsewhere`);
  components[kind] ??= {};
  if (name in components[kind]) continue;
  components[kind][name] = whole.components[kind]?.[name] ?? fail(`there is no ${reference}`);
  walk(components[kind][name]);
  count += 1;
}

const { openapi, info } = whole;
writeFileSync(out, JSON.stringify({ openapi, info, servers: [{ url: '/' }], paths, components }));
console.log(`${routes.length} routes and ${count} components of GitHub's description ${info.version}`);
