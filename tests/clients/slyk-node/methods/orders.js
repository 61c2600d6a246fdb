'use strict';

// Orders and their lines.

const assert = require('node:assert/strict');

const { has, holds, isTrue } = require('./catalogue');

const id = '0192abcd-0000-7000-8000-00000000000f';

async function payments({ call, shop }, cart, wallet) {
  const manager = shop.order;
  const order = await call('order.create', manager, [cart],
    has({ amount: '30.00000000', orderStatus: 'unfulfilled', paymentStatus: 'unpaid' }));
  await call('order.get', manager, [order.id], ({ amount, lines }) => {
    assert.equal(amount, order.amount);
    assert.equal(lines.length, 2);
  });
  await call('order.list', manager, [{ filter: { userId: cart.userId } }], holds(order.id));
  await call('order.patch', manager, [order.id, { trackingId: id }], has({ trackingId: id }));
  await call('order#patch', order, [{ trackingId: null }], has({ trackingId: null }));
  await call('order.pay', manager, [order.id, { amount: '10', walletId: wallet.id }],
    has({ paymentStatus: 'paid', unpaidAmount: '20.00000000' }));
  await call('order#pay', order, [{ walletId: wallet.id }],
    has({ paymentStatus: 'fully_paid', unpaidAmount: '0.00000000' }));
  return order;
}

async function fulfilment({ call, shop }, order) {
  const { order: manager, orderLine } = shop;
  const { results } = await call('orderLine.list', orderLine, [order.id], ({ total }) => {
    assert.equal(total, 2);
  });
  const [line, other] = results;
  const status = async (one, expected) => {
    const { status } = await orderLine.get(one.id, order.id);
    assert.equal(status, expected);
  };
  await call('order#getOrderLines', order, [], ({ total }) => assert.equal(total, 2));
  await call('orderLine.get', orderLine, [line.id, order.id], ({ order: { id }, quantity }) => {
    assert.deepEqual([id, quantity], [order.id, 2]);
  });
  await call('order#getOrderLine', order, [line.id], has({ id: line.id }));
  await call('orderLine.fulfill', orderLine, [line.id, order.id, { quantity: 1 }],
    () => status(line, 'partially_fulfilled'));
  await call('orderLine.unfulfill', orderLine, [line.id, order.id], () => status(line, 'unfulfilled'));
  const detail = Object.assign(line, { orderId: order.id });
  await call('orderLine#fulfill', detail, [{ quantity: 2 }], () => status(line, 'fulfilled'));
  await call('orderLine#unfulfill', detail, [], () => status(line, 'unfulfilled'));
  await call('order#fulfillOrderLine', order, [other.id], () => status(other, 'fulfilled'));
  await call('order#unfulfillOrderLine', order, [other.id], () => status(other, 'unfulfilled'));
  await call('order.fulfill', manager, [order.id], has({ orderStatus: 'fulfilled' }));
  await call('order.unfulfill', manager, [order.id], has({ orderStatus: 'unfulfilled' }));
  await call('order#fulfill', order, [], has({ orderStatus: 'fulfilled' }));
  await call('order#unfulfill', order, [], has({ orderStatus: 'unfulfilled' }));
}

module.exports = async (run, { coffee, tea }, { ada }, wallet) => {
  const { call, shop } = run;
  const lines = [{ productId: coffee.id, quantity: 2 }, { productId: tea.id }];
  const order = await payments(run, { lines, userId: ada.id }, wallet);
  await fulfilment(run, order);
  await call('order.refund', shop.order, [order.id, { amount: '5', reason: 'damaged' }],
    has({ paidAmount: '25.00000000', paymentStatus: 'partially_refunded' }));
  await call('order#refund', order, [{ amount: '5' }],
    has({ paidAmount: '20.00000000', paymentStatus: 'partially_refunded' }));
  await call('order.cancel', shop.order, [order.id, { reason: 'changed my mind' }], isTrue);
  has({ orderStatus: 'canceled', paymentStatus: 'fully_refunded' })(await shop.order.get(order.id));
  const other = await shop.order.create({ lines, userId: ada.id });
  await call('order#cancel', other, [{ reason: 'again' }], isTrue);
  has({ orderStatus: 'canceled' })(await shop.order.get(other.id));
};
