'use strict';

// Every method of the public SDK whose endpoint is offered, with a look at each result, and a table of
// them in ../README.md. A method that is neither called nor listed as not offered fails the run, and so does
// one that is listed and offered.
// Needs GUERDON_URL, GUERDON_API_KEY and GUERDON_MAIL_DIR; `WRITE=1` renews the table.

const assert = require('node:assert/strict');
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const slyk = require('@slyk/slyk-sdk-node');

const { absent, objects } = require('./methods/absent');
const catalogue = require('./methods/catalogue');
const money = require('./methods/money');
const orders = require('./methods/orders');
const people = require('./methods/people');
const webhooks = require('./methods/webhooks');

const { GUERDON_URL: host, GUERDON_API_KEY: apikey, WRITE: write } = process.env;
assert(host && apikey, 'set GUERDON_URL and GUERDON_API_KEY');

const shop = (slyk.default || slyk)({ apikey, host });
const readme = join(__dirname, '..', 'README.md');
const passed = new Set();

// Calls a method by its name, `product.create` or, of a model, `product#patch`, and has its result checked.
async function call(name, subject, args, check) {
  const method = name.split(/[.#]/)[1];
  assert.equal(typeof subject[method], 'function', name);
  const result = await Promise.resolve(subject[method](...args)).catch(error => {
    throw new Error(`${name}: ${error.code} ${error.message} ${JSON.stringify(error.errors)}`);
  });
  try {
    await check(result);
  } catch (error) {
    error.message = `${name}: ${error.message}`;
    throw error;
  }
  passed.add(name);
  return result;
}

// Returns the names of all methods of the SDK, by what they belong to.
function methods() {
  const own = prototype =>
    Object.getOwnPropertyNames(prototype).filter(name => name !== 'constructor');
  return Object.entries(shop).map(([name, manager]) => ({
    all: [
      ...own(Object.getPrototypeOf(manager)).map(method => `${name}.${method}`),
      ...own(manager.model.prototype).map(method => `${name}#${method}`)
    ],
    name
  }));
}

async function expectAbsent(name, args) {
  const [manager, method] = name.split('.');
  const error = await shop[manager][method](...args).then(() => null, error => error);
  assert(error, `${name} is offered now: look at its result`);
  const codes = ['route_not_found', 'method_not_allowed'];
  assert(codes.includes(error.message), `${name} is offered now: ${error.message}`);
}

function table() {
  const short = names => names.map(name => `\`${name.split(/(?=#)|\./)[1]}\``).join(' ');
  const rows = methods().map(({ all, name }) => {
    const not = all.filter(method => !passed.has(method));
    return `| \`${name}\` | ${short(all.filter(method => passed.has(method)))} | ${short(not)} |`;
  });
  const count = methods().flatMap(({ all }) => all).length;
  return [
    `Of the ${count} methods, ${passed.size} are called and pass; ${count - passed.size} have no endpoint`,
    'here. `#` marks a method of the objects that the others return.',
    '',
    '| Part of the SDK | Passes | Not offered |',
    '| --- | --- | --- |',
    ...rows
  ].join('\n');
}

function checkReadme() {
  const text = readFileSync(readme, 'utf8');
  const [begin, end] = ['<!-- begin: methods -->\n', '<!-- end: methods -->'];
  const [before, rest] = text.split(begin);
  const after = rest.slice(rest.indexOf(end));
  const renewed = `${before}${begin}\n${table()}\n\n${after}`;
  if (write) writeFileSync(readme, renewed);
  else assert.equal(text, renewed, 'the table in tests/clients/README.md: renew it with WRITE=1');
}

async function main() {
  const run = { call, shop };
  const goods = await catalogue(run);
  const users = await people(run);
  const wallets = await money(run, users);
  await orders(run, goods, users, wallets);
  await webhooks(run);
  for (const [name, args] of Object.entries(absent)) await expectAbsent(name, args);

  // A method of an object that calls one of its manager is offered where that is.
  const isAbsent = name => name in absent || objects.includes(name);
  const all = methods().flatMap(({ all }) => all);
  const missing = all.filter(name => !passed.has(name) && !isAbsent(name.replace('#', '.')));
  assert.deepEqual(missing.filter(name => !isAbsent(name)), [], 'methods that nobody calls');
  console.log(table());
  checkReadme();
}

main().catch(error => {
  console.error(error);
  process.exitCode = 1;
});
