'use strict';

// Users, sessions, mails, invites and tasks.

const assert = require('node:assert/strict');
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const { gone, has, holds, isTrue, run } = require('./catalogue');

const password = 'Correct1Horse';
const email = name => `${name}-${run}@example.com`;
const make = name => ({ approved: true, email: email(name), name, password });

async function users({ call, shop }) {
  const manager = shop.user;
  const ada = await call('user.create', manager, [make('ada')],
    has({ approved: true, blocked: false, email: email('ada'), name: 'ada' }));
  const bob = await manager.create({ ...make('bob'), approved: false, code: ada.referralCode });
  await call('user.get', manager, [ada.id], has({ email: ada.email }));
  await call('user.list', manager, [{ filter: { email: bob.email } }], holds(bob.id));
  await call('user.patch', manager, [ada.id, { locale: 'pt' }], has({ locale: 'pt', name: 'ada' }));
  await call('user#patch', ada, [{ locale: 'en' }], has({ locale: 'en' }));
  await call('user.approve', manager, [bob.id], isTrue);
  const eve = await manager.create({ ...make('eve'), approved: false });
  await call('user#approve', eve, [], isTrue);
  for (const { id } of [bob, eve]) has({ approved: true })(await manager.get(id));
  await call('user.block', manager, [eve.id], isTrue);
  await call('user#block', bob, [], isTrue);
  for (const { id } of [bob, eve]) has({ blocked: true })(await manager.get(id));
  await call('user.unblock', manager, [eve.id], isTrue);
  await call('user#unblock', bob, [], isTrue);
  for (const { id } of [bob, eve]) has({ blocked: false })(await manager.get(id));

  await call('user#getWallets', ada, [], holds(ada.primaryWalletId));
  await call('user#getPrimaryWallet', ada, [], has({ id: ada.primaryWalletId, ownerId: ada.id }));
  const referred = await manager.get(bob.id);
  await call('user#getReferralUser', referred, [], has({ id: ada.id, name: 'ada' }));
  await call('user.changePassword', manager, [eve.id, { password: 'Another1Horse' }],
    result => assert.equal(result, undefined));
  await call('user#changePassword', bob, [{ password: 'Another1Horse' }],
    result => assert.equal(result, undefined));
  for (const { email } of [bob, eve]) {
    assert((await shop.auth.login({ email, password: 'Another1Horse' })).token);
  }
  await call('user.delete', manager, [eve.id], isTrue);
  await gone(manager.get(eve.id));
  const max = await manager.create(make('max'));
  await call('user#delete', max, [], isTrue);
  await gone(manager.get(max.id));
  return { ada, bob };
}

async function sessions({ call, shop }, { ada }) {
  const login = { email: ada.email, password };
  const tokens = await call('auth.login', shop.auth, [login], has({ expiresIn: 600, roles: ['user'] }));
  await call('auth.validate', shop.auth, [{ token: tokens.token }],
    ({ user }) => has({ email: ada.email, id: ada.id })(user));
  const next = await call('auth#refresh', tokens, [], has({ expiresIn: 600 }));
  const { refreshToken } = next;
  const last = await call('auth.refresh', shop.auth, [{ refreshToken }], has({ roles: ['user'] }));
  await call('auth#logout', last, [], isTrue);
  await assert.rejects(shop.auth.refresh({ refreshToken: last.refreshToken }), { code: 401 });
  const other = await shop.auth.login(login);
  await call('auth.logout', shop.auth, [{ refreshToken: other.refreshToken }], isTrue);
  await assert.rejects(shop.auth.refresh({ refreshToken: other.refreshToken }), { code: 401 });
}

const seen = new Set();

// Returns the token of a mail that nobody has asked for yet.
async function mailed(address, page) {
  const mails = process.env.GUERDON_MAIL_DIR;
  for (const end = Date.now() + 20000; Date.now() < end;) {
    const texts = readdirSync(mails).filter(name => name.endsWith('.eml'))
      .map(name => readFileSync(join(mails, name), 'utf8').replace(/=\r?\n/g, '').replace(/=3D/g, '='));
    const tokens = texts.filter(text => text.includes(address))
      .map(text => text.match(new RegExp(`${page}\\?token=([\\w-]+)`))?.[1]);
    const fresh = tokens.find(token => token && !seen.has(token));
    if (fresh) {
      seen.add(fresh);
      return fresh;
    }
    await new Promise(next => setTimeout(next, 50));
  }
  throw new Error(`no mail to ${address} leads to ${page}`);
}

async function mails({ call, shop }, { bob }) {
  const manager = shop.user;
  const nothing = result => assert.equal(result, undefined);
  await call('user.resendConfirmation', manager, [{ email: bob.email }], nothing);
  const token = await mailed(bob.email, 'confirm-email');
  await call('user.confirmEmail', manager, [{ token }], isTrue);
  assert((await manager.get(bob.id)).metadata.emailConfirmedAt);
  await call('user.forgotPassword', manager, [{ email: bob.email }], nothing);
  const reset = { password, token: await mailed(bob.email, 'reset-password') };
  await call('user.resetPassword', manager, [reset], isTrue);
  assert((await shop.auth.login({ email: bob.email, password })).token);
  await assert.rejects(manager.resetPassword(reset), { code: 422 });
  const change = async address => {
    await manager.confirmEmail({ token: await mailed(address, 'confirm-email') });
    has({ email: address })(await manager.get(bob.id));
  };
  await call('user.changeEmail', manager, [bob.id, { email: email('robert') }], nothing);
  await change(email('robert'));
  await call('user#changeEmail', bob, [{ email: email('rob') }], nothing);
  await change(email('rob'));
}

async function invites({ call, shop }, { ada }) {
  const manager = shop.invite;
  const create = { email: email('friend'), inviterUserId: ada.id };
  const invite = await call('invite.create', manager, [create],
    has({ invitedEmail: create.email, inviterUserId: ada.id, status: 'pending', type: 'invite' }));
  await call('invite.get', manager, [invite.code], has({ invitedEmail: create.email }));
  await call('invite.validate', manager, [invite.code],
    has({ code: invite.code, referrerName: 'ada', valid: true }));
  await call('invite#validate', invite, [], has({ code: invite.code, valid: true }));
  await call('invite#getInviterUser', invite, [], has({ id: ada.id }));
  await call('invite.send', manager, [{ email: [email('guest')], inviterUserId: ada.id }], isTrue);
  await call('invite.list', manager, [{ filter: { inviterUserId: ada.id } }],
    ({ results, total }) => {
      assert.equal(total, 2);
      assert.deepEqual(results.map(one => one.invitedEmail), [email('guest'), email('friend')]);
    });
  await call('user#getInvites', ada, [], ({ total }) => assert.equal(total, 2));
  const used = await manager.create({ inviterUserId: ada.id });
  const guest = await shop.user.create({ ...make('ida'), code: used.code });
  const accepted = await manager.get(used.code);
  has({ invitedUserId: guest.id, status: 'accepted' })(accepted);
  await call('invite#getInvitedUser', accepted, [], has({ id: guest.id, name: 'ida' }));
  await call('invite.cancel', manager, [invite.code], isTrue);
  const other = await manager.create({ inviterUserId: ada.id });
  await call('invite#cancel', other, [], isTrue);
  for (const { code } of [invite, other]) has({ status: 'canceled' })(await manager.get(code));
}

async function tasks({ call, shop }, { ada, bob }) {
  const manager = shop.task;
  const make = name => ({ amount: '1', description: 'Go on', name: `${name} ${run}`, type: 'manual' });
  const first = await call('task.create', manager, [make('First')],
    has({ amount: '1.00000000', assetCode: 'usd', type: 'manual' }));
  const second = await manager.create(make('Second'));
  await call('task.get', manager, [first.id], has({ name: first.name }));
  await call('task.list', manager, [{ filter: { name: first.name } }], holds(first.id));
  await call('task.patch', manager, [first.id, { amount: '2' }], has({ amount: '2.00000000' }));
  await call('task#patch', first, [{ amount: '3' }], has({ amount: '3.00000000' }));
  await call('task.reorder', manager, [second.id, { subsequentId: first.id }], isTrue);
  await call('task#reorder', first, [{ subsequentId: second.id }], isTrue);
  const { results } = await manager.list({ page: { size: 1000 } });
  const places = [first, second].map(task => results.findIndex(({ id }) => id === task.id));
  assert(places[0] >= 0 && places[0] < places[1], 'as reordered');
  await call('task.complete', manager, [first.id, { userId: ada.id }], isTrue);
  await call('task#complete', second, [{ userId: bob.id }], isTrue);
  await assert.rejects(manager.complete(first.id, { userId: ada.id }), { code: 409 });
  const [third, fourth] = [await manager.create(make('Third')), await manager.create(make('Fourth'))];
  await call('task.delete', manager, [third.id], isTrue);
  await call('task#delete', fourth, [], isTrue);
  await gone(manager.get(third.id));
  await gone(manager.get(fourth.id));
}

module.exports = async run => {
  const made = await users(run);
  await sessions(run, made);
  await mails(run, made);
  await invites(run, made);
  await tasks(run, made);
  return made;
};
