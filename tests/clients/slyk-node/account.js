'use strict';

// A user's account, an invited friend and the reward, through the public SDK as it is published.
// It sends the API key with every call: a back end acts for its users.

const assert = require('node:assert/strict');
const { balance, mailed, main, ok, refused, run, shop, until, usd } = require('./shop');

const password = 'Correct1Horse';
const address = name => `${name}-${run}@example.com`;
const create = (name, more) =>
  shop.user.create({ approved: true, email: address(name), name, password, ...more });

async function confirmed() {
  const ada = await create('ada');
  await shop.user.resendConfirmation({ email: ada.email });
  const token = await mailed('confirm_email', ada.email);
  assert.equal(await shop.user.confirmEmail({ token }), true);
  const { metadata } = await shop.user.get(ada.id);
  assert.match(metadata.emailConfirmedAt, /Z$/);
  await refused(shop.user.confirmEmail({ token }), 422, 'validation_failed');
  ok('an email, confirmed once');
  return ada;
}

async function sessions({ email, id }) {
  const login = await shop.auth.login({ email, password });
  const { user } = await shop.auth.validate({ token: login.token });
  assert.equal(user.id, id);
  const next = await login.refresh();
  assert.notEqual(next.refreshToken, login.refreshToken);
  assert.equal(await next.logout(), true);
  await refused(next.refresh(), 401, 'unauthenticated');
  ok('a login, refreshed and ended');
}

async function forgottenPassword({ email }) {
  const answers = [email, address('nobody')].map(email => shop.user.forgotPassword({ email }));
  const [known, unknown] = await Promise.all(answers);
  assert.equal(known, unknown);
  const token = await mailed('reset_password', email);
  await refused(shop.user.resetPassword({ password: 'weak', token }), 422, 'validation_failed');
  assert.equal(await shop.user.resetPassword({ password: 'Another1Horse', token }), true);
  await refused(shop.user.resetPassword({ password, token }), 422, 'validation_failed');
  await refused(shop.auth.login({ email, password }), 401, 'unauthenticated');
  await shop.auth.login({ email, password: 'Another1Horse' });
  ok('a forgotten password, reset once');
}

async function changedEmail(ada) {
  const email = address('anna');
  await ada.changeEmail({ email });
  assert.equal((await shop.user.get(ada.id)).email, ada.email);
  assert.equal(await shop.user.confirmEmail({ token: await mailed('change_email', email) }), true);
  assert.equal((await shop.user.get(ada.id)).email, email);
  ok('an email, changed when the new one is confirmed');
}

async function friend(ada) {
  const email = address('bob');
  assert.equal(await shop.invite.send({ email, inviterUserId: ada.id }), true);
  const code = await mailed('invite', email);
  assert.equal((await shop.invite.validate(code)).referrerName, 'ada');
  const bob = await create('bob', { code });
  assert.equal(bob.referralUserId, ada.id);
  assert.equal((await shop.invite.get(code)).status, 'accepted');
  await refused(create('eve', { code }), 422, 'invite_invalid');
  ok('an invited friend');
  return bob;
}

async function reward(ada, bob) {
  const deposit = await shop.transaction.deposit({
    amount: '50.00', assetCode: 'usd', code: 'internal', commit: true, data: {},
    destinationWalletId: bob.primaryWalletId
  });
  await shop.transaction.confirm(deposit.id);
  const category = await shop.productCategory.create({ title: `Drinks ${run}` });
  const coffee = await shop.product.create({
    assetCode: 'usd', categoryId: category.id, name: `Coffee ${run}`, price: '12.50'
  });
  const order = await shop.order.create({
    lines: [{ productId: coffee.id }], userId: bob.id, walletId: bob.primaryWalletId
  });
  assert.equal(order.paymentStatus, 'fully_paid');
  await until('the reward arrives', async () => {
    assert.equal(await balance(ada.primaryWalletId), usd('1.25'));
  });
  ok('a tenth of what the friend paid');
}

main(async () => {
  const ada = await confirmed();
  await sessions(ada);
  await forgottenPassword(ada);
  await changedEmail(ada);
  const bob = await friend(ada);
  await reward(ada, bob);
});
