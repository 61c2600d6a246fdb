'use strict';

// The public SDK as it is published, connected to a running stack, and what its checks share.
// Needs GUERDON_URL, GUERDON_API_KEY and GUERDON_MAIL_DIR (`.stack/env` of a running stack has them).

const assert = require('node:assert/strict');
const { randomBytes } = require('node:crypto');
const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');
const slyk = require('@slyk/slyk-sdk-node');

const { GUERDON_URL: host, GUERDON_API_KEY: apikey, GUERDON_MAIL_DIR: mails } = process.env;
assert(host && apikey && mails, 'set GUERDON_URL, GUERDON_API_KEY and GUERDON_MAIL_DIR');

const connect = slyk.default || slyk;
const shop = connect({ apikey, host });

// The default settings of a stack: nothing here depends on what other runs left behind.
const run = randomBytes(4).toString('hex');
const usd = amount => `${amount}000000`;

let passed = 0;
const ok = what => console.log(`ok ${++passed} ${what}`);

async function until(what, check) {
  const end = Date.now() + 20000;
  for (;;) {
    const { result, error } = await check().then(result => ({ result }), error => ({ error }));
    if (!error) return result;
    if (Date.now() > end) throw new Error(`${what}: ${error.message}`);
    await new Promise(next => setTimeout(next, 50));
  }
}

async function refused(promise, status, code) {
  const error = await promise.then(() => null, error => error);
  assert(error, `expected ${code}`);
  assert.equal(error.code || error.status, status, error.message);
  assert.equal(error.message, code);
}

async function balance(walletId) {
  const entries = await shop.wallet.balance(walletId);
  const entry = entries.find(({ assetCode }) => assetCode === 'usd');
  return entry ? entry.amount : '0.00000000';
}

// The token or code in the newest mail of a kind to an address, once it has arrived.
const mailed = (kind, address) => until(`${kind} to ${address}`, async () => {
  const names = readdirSync(mails).filter(name => name.endsWith(`-${kind}.eml`)).sort().reverse();
  const texts = names.map(name => readFileSync(join(mails, name), 'utf8'));
  const text = texts.find(text => text.includes(`<${address}>`) || text.includes(`To: ${address}`));
  assert(text, 'no mail');
  const decoded = text.replace(/=\r?\n/g, '').replace(/=3D/g, '=');
  return decoded.match(/(?:token|code)=([\w-]+)/)[1];
});

const main = steps => steps()
  .then(() => console.log(`${passed} passed`))
  .catch(error => {
    console.error(error);
    process.exitCode = 1;
  });

module.exports = { balance, connect, host, mailed, main, ok, refused, run, shop, until, usd };
