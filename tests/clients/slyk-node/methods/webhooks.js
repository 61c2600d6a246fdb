'use strict';

// Webhooks.

const { gone, has, holds, isTrue, run } = require('./catalogue');

module.exports = async ({ call, shop }) => {
  const manager = shop.webhook;
  const make = name => ({
    description: name, events: ['store.order.*'], url: `https://shop.example/${name}-${run}`
  });
  const webhook = await call('webhook.create', manager, [make('stock')],
    has({ ...make('stock'), disabledAt: null, enabled: true }));
  await call('webhook.get', manager, [webhook.id], has({ url: make('stock').url }));
  await call('webhook.list', manager, [{ page: { size: 50 } }], holds(webhook.id));
  await call('webhook.patch', manager, [webhook.id, { enabled: false }],
    has({ description: 'stock', disabledReason: 'admin', enabled: false }));
  await call('webhook#patch', webhook, [{ description: null, enabled: true }],
    has({ description: '', disabledReason: null, enabled: true }));
  const other = await manager.create(make('other'));
  await call('webhook.delete', manager, [webhook.id], isTrue);
  await call('webhook#delete', other, [], isTrue);
  for (const { id } of [webhook, other]) await gone(manager.get(id));
};
