'use strict';

// From a product to a paid, fulfilled and rewarded order, through the public SDK as it is published.

const assert = require('node:assert/strict');
const { balance, connect, host, main, ok, refused, run, shop, until, usd } = require('./shop');

async function customers() {
  const password = 'Correct1Horse';
  const make = name =>
    shop.user.create({ approved: true, email: `${name}-${run}@example.com`, name, password });
  const [ada, bob] = [await make('ada'), await make('bob')];
  assert.equal(ada.email, `ada-${run}@example.com`);
  for (const user of [ada, bob]) {
    const wallet = await shop.wallet.get(user.primaryWalletId);
    assert.equal(wallet.ownerId, user.id);
  }
  await refused(shop.user.create({ email: `ADA-${run}@example.com`, password }), 409, 'email_taken');
  ok('two users, each with a primary wallet');
  return { ada, bob };
}

async function fund(user) {
  const deposit = await shop.transaction.deposit({
    amount: '100.00',
    assetCode: 'usd',
    code: 'internal',
    data: {},
    destinationWalletId: user.primaryWalletId
  });
  assert.equal(deposit.status, 'pending');
  assert.equal((await shop.transaction.approve(deposit.id)).status, 'processing');
  assert.equal((await shop.transaction.confirm(deposit.id)).status, 'confirmed');
  assert.equal(await balance(user.primaryWalletId), usd('100.00'));
  await refused(shop.transaction.confirm(deposit.id), 409, 'invalid_state');
  ok('a deposit, approved and confirmed');
}

async function catalogue() {
  const category = await shop.productCategory.create({ title: `Drinks ${run}` });
  const taxRate = await shop.taxRate.create({ name: `VAT ${run}`, rate: '20' });
  const product = (name, price, bonus) =>
    shop.product.create({
      allowChoosingQuantity: true, assetCode: 'usd', bonus, categoryId: category.id, name, price,
      taxRateId: taxRate.id
    });
  const coffee = await product(`Coffee ${run}`, '12.50', '1.25');
  const tea = await product(`Tea ${run}`, '8', '0.8');
  assert.equal(coffee.priceWithTax, usd('15.00'));
  assert.equal(tea.taxAmount, usd('1.60'));
  ok('a category, a tax rate and two products');
  return { category, coffee, tea };
}

async function firstOrder(user, { coffee, tea }) {
  const cart = {
    lines: [{ productId: coffee.id, quantity: 2 }, { productId: tea.id, quantity: 1 }],
    userId: user.id
  };
  const quote = await shop.order.create({ ...cart, dryRun: true });
  const order = await shop.order.create(cart);
  for (const it of [quote, order]) {
    assert.equal(it.amount, usd('39.60'));
    assert.equal(it.taxesAmount, usd('6.60'));
    assert.equal(it.amountWithoutTaxes, usd('33.00'));
    assert.equal(it.bonus, usd('3.30'));
    assert.equal(it.unpaidAmount, usd('39.60'));
  }
  ok('a dry run and the same order');

  const inPart = await shop.order.pay(order.id, { amount: '10.00' });
  assert.equal(inPart.paymentStatus, 'paid');
  assert.equal(inPart.unpaidAmount, usd('29.60'));
  const inFull = await shop.order.pay(order.id);
  assert.equal(inFull.paymentStatus, 'fully_paid');
  assert.match(inFull.paidAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  await refused(shop.order.pay(order.id), 409, 'invalid_state');
  await until('the bonus arrives', async () => {
    assert.equal(await balance(user.primaryWalletId), usd('63.70'));
  });
  ok('paid in two parts, and the bonus arrived');
  return order;
}

async function fulfil(order) {
  const { results: lines } = await shop.orderLine.list(order.id);
  assert.equal(lines.length, 2);
  await shop.orderLine.fulfill(lines[0].id, order.id, { quantity: lines[0].quantity });
  const half = await shop.order.get(order.id);
  assert.equal(half.orderStatus, 'unfulfilled');
  const whole = await shop.order.fulfill(order.id);
  assert.equal(whole.orderStatus, 'fulfilled');
  assert.equal((await shop.order.unfulfill(order.id)).orderStatus, 'unfulfilled');
  const detail = await shop.orderLine.get(lines[0].id, order.id);
  assert.equal(detail.order.id, order.id);
  assert.equal(detail.product.category.id.length, 36);
  ok('fulfilled by line and as a whole');
}

async function paidAtOnceAndCanceled(user, { tea }) {
  const order = await shop.order.create({
    lines: [{ productId: tea.id }],
    userId: user.id,
    walletId: user.primaryWalletId
  });
  assert.equal(order.paymentStatus, 'fully_paid');
  await until('the bonus arrives', async () => {
    assert.equal(await balance(user.primaryWalletId), usd('54.90'));
  });
  await shop.order.cancel(order.id, { refundAmount: '4.80' });
  const canceled = await shop.order.get(order.id);
  assert.equal(canceled.orderStatus, 'canceled');
  assert.equal(canceled.paymentStatus, 'partially_refunded');
  await until('money and bonus go back', async () => {
    assert.equal(await balance(user.primaryWalletId), usd('59.30'));
  });
  ok('paid at once, then canceled with a partial refund');
}

async function task(user) {
  const made = await shop.task.create({
    amount: '5.00', description: 'Tell us what you think', name: `Survey ${run}`, type: 'manual'
  });
  await shop.task.complete(made.id, { userId: user.id });
  await until('the reward arrives', async () => {
    assert.equal(await balance(user.primaryWalletId), usd('64.30'));
  });
  await refused(shop.task.complete(made.id, { userId: user.id }), 409, 'task_already_completed');
  ok('a task, rewarded once');
}

async function lists(user, { category }) {
  const products = await shop.product.list({
    filter: { categoryId: category.id }, page: { number: 1, size: 1 },
    sort: [{ direction: 'DESC', name: 'createdAt' }]
  });
  assert.equal(products.total, 2);
  assert.equal(products.results[0].name, `Tea ${run}`);
  const orders = await shop.order.list({
    filter: { paymentStatus: ['fully_paid', 'partially_refunded'], userId: user.id }
  });
  assert.equal(orders.total, 2);
  assert.equal(orders.results[0].user.name, 'ada');
  const movements = await shop.movement.list({
    filter: { walletId: user.primaryWalletId }, include: { transaction: true },
    sort: [{ name: 'createdAt' }]
  });
  assert.equal(movements.results[0].transaction.type, 'deposit');
  const transactions = await shop.wallet.transactions(user.primaryWalletId, {
    filter: { code: 'in:pay,refund', status: 'confirmed' }
  });
  assert.equal(transactions.total, 4);
  ok('lists with filter, sort, page and include');
}

async function badInput({ ada, bob }, { coffee }) {
  const transfer = amount => shop.transaction.transfer({
    amount, assetCode: 'usd', code: 'internal', commit: true,
    destinationWalletId: bob.primaryWalletId, originWalletId: ada.primaryWalletId
  });
  const order = line => shop.order.create({ lines: [line], userId: ada.id });
  await refused(transfer('1e3'), 422, 'validation_failed');
  await refused(transfer('1000000.00'), 422, 'insufficient_funds');
  await refused(order({ productId: ada.id }), 422, 'validation_failed');
  await refused(order({ productId: coffee.id, quantity: 0 }), 422, 'validation_failed');
  await refused(order({ productId: coffee.id, qty: 1 }), 422, 'validation_failed');
  await refused(shop.product.list({ filter: { nope: 1 } }), 400, 'invalid_query');
  await refused(shop.product.get('abc'), 404, 'product_not_found');
  await refused(connect({ apikey: 'gk_wrong', host }).product.list(), 401, 'unauthenticated');
  assert.equal(await balance(ada.primaryWalletId), usd('64.30'));
  assert.equal(await balance(bob.primaryWalletId), '0.00000000');
  ok('bad input is refused and changes nothing');
}

main(async () => {
  const users = await customers();
  await fund(users.ada);
  const goods = await catalogue();
  const order = await firstOrder(users.ada, goods);
  await fulfil(order);
  await paidAtOnceAndCanceled(users.ada, goods);
  await task(users.ada);
  await lists(users.ada, goods);
  await badInput(users, goods);
});
