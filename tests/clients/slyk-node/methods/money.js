'use strict';

// Assets, rates, addresses, wallets, transactions, movements and payment methods.

const assert = require('node:assert/strict');

const { gone, has, holds, isTrue, run } = require('./catalogue');

const code = `T${run}`;

async function assets({ call, shop }) {
  const manager = shop.asset;
  const asset = await call('asset.create', manager, [{ code, decimalPlaces: 2, name: 'Token' }],
    has({ code, decimalPlaces: 2, enabled: true, name: 'Token', type: 'custom' }));
  await call('asset.get', manager, [code], has({ code, name: 'Token' }));
  await call('asset.list', manager, [{ filter: { code } }], holds(asset.id || code));
  await call('asset.patch', manager, [code, { name: 'Coin' }], has({ name: 'Coin' }));
  await call('asset#patch', asset, [{ symbol: 'T' }], has({ name: 'Coin', symbol: 'T' }));
}

async function rates({ call, shop }) {
  const manager = shop.rate;
  const make = (baseAssetCode, quoteAssetCode, rate) => ({ baseAssetCode, quoteAssetCode, rate });
  const rate = await call('rate.create', manager, [make(code, 'usd', '2')],
    has({ baseAssetCode: code, quoteAssetCode: 'usd', rate: '2.00000000' }));
  await call('rate.get', manager, [code, 'usd'], has({ rate: '2.00000000' }));
  await call('rate.list', manager, [{ filter: { baseAssetCode: code } }],
    ({ results, total }) => {
      assert.equal(total, 1);
      has({ quoteAssetCode: 'usd' })(results[0]);
    });
  await call('rate.patch', manager, [code, 'usd', { rate: '3' }], has({ rate: '3.00000000' }));
  await call('rate#patch', rate, [{ rate: '4' }], has({ rate: '4.00000000' }));
  await call('rate#getBaseAsset', rate, [], has({ code }));
  await call('rate#getQuoteAsset', rate, [], has({ code: 'usd' }));
  await manager.create(make('usd', code, '0.25'));
  await call('rate.delete', manager, ['usd', code], isTrue);
  await gone(manager.get('usd', code));
}

async function wallets({ call, shop }, { ada }) {
  const manager = shop.wallet;
  const wallet = await call('wallet.create', manager, [{ name: 'Savings', ownerId: ada.id }],
    has({ locked: false, name: 'Savings', ownerId: ada.id }));
  await call('wallet.get', manager, [wallet.id], has({ name: 'Savings' }));
  await call('wallet.list', manager, [{ filter: { ownerId: ada.id } }], holds(wallet.id));
  await call('wallet.patch', manager, [wallet.id, { customData: { a: 1 } }],
    has({ customData: { a: 1 } }));
  await call('wallet#patch', wallet, [{ customData: {} }], has({ customData: {} }));
  await call('wallet#getOwner', wallet, [], has({ id: ada.id }));
  return wallet;
}

async function addresses({ call, shop }, wallet) {
  const create = { address: `addr-${run}`, assetCode: 'btc', walletId: wallet.id };
  const address = await call('address.create', shop.address, [create], has(create));
  await call('address.get', shop.address, [create.address], has(create));
  await call('address.list', shop.address, [{ filter: { walletId: wallet.id } }],
    ({ results, total }) => {
      assert.equal(total, 1);
      has(create)(results[0]);
    });
  await call('address#getAsset', address, [], has({ code: 'btc' }));
  await call('address#getWallet', address, [], has({ id: wallet.id }));
  return address;
}

// Creates deposits and brings them into each state.
async function deposits({ call, shop }, wallet, address) {
  const manager = shop.transaction;
  const deposit = {
    amount: '10', assetCode: 'usd', code: 'internal', data: {}, destinationAddress: address.address,
    destinationWalletId: wallet.id
  };
  const pending = await call('transaction.deposit', manager, [deposit],
    has({ amount: '10.00000000', destinationWalletId: wallet.id, status: 'pending', type: 'deposit' }));
  await call('transaction.approve', manager, [pending.id], has({ status: 'processing' }));
  await call('transaction.confirm', manager, [pending.id], has({ status: 'confirmed' }));
  const second = await manager.deposit({ ...deposit, amount: '100' });
  await call('transaction#approve', second, [], has({ status: 'processing' }));
  await call('transaction#confirm', second, [], has({ status: 'confirmed' }));
  const make = () => manager.deposit(deposit);
  await call('transaction.fail', manager, [(await make()).id, { reason: 'late' }],
    result => assert.equal(result.status, 'failed'));
  await call('transaction#fail', await make(), [{ reason: 'late' }],
    has({ metadata: { data: {}, failReason: 'late' }, status: 'failed' }));
  await call('transaction.reject', manager, [(await make()).id, { reason: 'no' }],
    has({ status: 'rejected' }));
  await call('transaction#reject', await make(), [{ reason: 'no' }], has({ status: 'rejected' }));
  await call('transaction.get', manager, [pending.id], has({ status: 'confirmed' }));
  await call('transaction.list', manager, [{ filter: { walletId: wallet.id } }],
    ({ total }) => assert.equal(total, 6));
  return pending;
}

async function transactions({ call, shop }, wallet, { bob }, deposit) {
  const manager = shop.transaction;
  const debit = amount => ({ amount, assetCode: 'usd', originWalletId: wallet.id });
  const transfer = {
    ...debit('5'), code: 'internal', commit: true, destinationWalletId: bob.primaryWalletId,
    originAddress: `addr-${run}`
  };
  const sent = await call('transaction.transfer', manager, [transfer],
    has({ destinationWalletId: bob.primaryWalletId, status: 'confirmed', type: 'transfer' }));
  await call('transaction.withdrawal', manager, [{ ...debit('4'), code: 'internal' }],
    has({ amount: '4.00000000', originWalletId: wallet.id, status: 'pending', type: 'withdrawal' }));
  const send = { ...debit('1'), destinationWalletId: bob.primaryWalletId };
  await call('transaction.send', manager, [send],
    has({ code: 'send', destinationWalletId: bob.primaryWalletId, status: 'confirmed', type: 'transfer' }));
  const { email } = await shop.user.get(bob.id);
  has({ code: 'send', destinationWalletId: bob.primaryWalletId })(
    await manager.send({ ...debit('1'), destinationEmail: email }));
  await call('transaction.pay', manager, [debit('3')],
    has({ code: 'pay', originWalletId: wallet.id, status: 'confirmed', type: 'transfer' }));
  const rate = await shop.rate.create({ baseAssetCode: 'usd', quoteAssetCode: code, rate: '2' });
  const exchange = {
    baseAmount: '2', baseAssetCode: 'usd', quoteAssetCode: rate.quoteAssetCode, walletId: wallet.id
  };
  await call('transaction.exchange', manager, [exchange],
    has({ status: 'confirmed', type: 'exchange' }));
  await call('transaction#getAsset', sent, [], has({ code: 'usd' }));
  await call('transaction#getOriginWallet', sent, [], has({ id: wallet.id }));
  await call('transaction#getDestinationWallet', sent, [], has({ id: bob.primaryWalletId }));
  await call('transaction#getOriginAddress', sent, [], has({ address: `addr-${run}` }));
  await call('transaction#getDestinationAddress', deposit, [], has({ address: `addr-${run}` }));
  await call('transaction#getMovements', sent, [], ({ results, total }) => {
    assert.equal(total, 2);
    const amounts = results.map(({ amount }) => amount).sort();
    assert.deepEqual(amounts, ['-5.00000000', '5.00000000']);
  });
  return sent;
}

async function movements({ call, shop }, wallet, sent) {
  const filter = { transactionId: sent.id, walletId: wallet.id };
  const { results } = await call('movement.list', shop.movement, [{ filter }], ({ results, total }) => {
    assert.equal(total, 1);
    has({ amount: '-5.00000000', assetCode: 'usd', walletId: wallet.id })(results[0]);
  });
  const [movement] = results;
  await call('movement.get', shop.movement, [movement.id, { include: { transaction: true } }],
    ({ transaction }) => assert.equal(transaction.id, sent.id));
  await call('movement#getAsset', movement, [], has({ code: 'usd' }));
  await call('movement#getWallet', movement, [], has({ id: wallet.id }));
  await call('movement#getTransaction', movement, [], has({ id: sent.id }));
}

// What a wallet shows: 110 paid in; 5 transferred, 2 sent, 4 held, 3 paid, 2 exchanged.
async function reads({ call, shop }, wallet) {
  const inUsd = entries => entries.find(({ assetCode }) => assetCode === 'usd');
  const balance = entries => {
    const { amount, availableAmount, heldAmount } = inUsd(entries);
    assert.deepEqual([amount, heldAmount, availableAmount],
      ['98.00000000', '4.00000000', '94.00000000']);
  };
  const manager = shop.wallet;
  await call('wallet.balance', manager, [wallet.id], balance);
  await call('wallet#getBalance', wallet, [], balance);
  await call('wallet.globalBalance', manager, [], entries => {
    assert(Number(inUsd(entries).amount) >= 98);
  });
  const movements = ({ total }) => assert.equal(total, 8);
  await call('wallet.movements', manager, [wallet.id], movements);
  await call('wallet#getMovements', wallet, [], movements);
  const transactions = ({ total }) => assert.equal(total, 12);
  await call('wallet.transactions', manager, [wallet.id], transactions);
  await call('wallet#getTransactions', wallet, [], transactions);
  await call('wallet.activity', manager, [wallet.id], transactions);
  await call('wallet#getActivity', wallet, [], transactions);
  await call('wallet.globalActivity', manager, [], ({ total }) => assert(total >= 12));
}

async function paymentMethods({ call, shop }) {
  const { results } = await call('paymentMethod.list', shop.paymentMethod, [], ({ total }) => {
    assert(total > 0, 'PAYMENT_METHODS_FILE configures some');
  });
  const [{ name, slug }] = results;
  await call('paymentMethod.get', shop.paymentMethod, [slug], has({ name, slug }));
}

module.exports = async (run, users) => {
  await assets(run);
  await rates(run);
  const wallet = await wallets(run, users);
  const address = await addresses(run, wallet);
  const deposit = await deposits(run, wallet, address);
  const sent = await transactions(run, wallet, users, deposit);
  await movements(run, wallet, sent);
  await reads(run, wallet);
  await paymentMethods(run);
  return wallet;
};
