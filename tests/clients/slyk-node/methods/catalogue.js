'use strict';

// Categories, tax rates, questions and products.

const assert = require('node:assert/strict');
const { randomBytes } = require('node:crypto');

const isTrue = result => assert.equal(result, true);
const has = expected => result => {
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(result[name], value, name);
};
const holds = id => ({ results, total }) => {
  assert(results.some(one => (one.id || one.code) === id), 'the list lacks it');
  assert(total >= results.length);
};
const gone = promise => assert.rejects(promise, { code: 404 });

const run = randomBytes(4).toString('hex');

async function categories({ call, shop }) {
  const manager = shop.productCategory;
  const drinks = await call('productCategory.create', manager, [{ title: `Drinks ${run}` }],
    has({ description: null, title: `Drinks ${run}` }));
  const food = await manager.create({ title: `Food ${run}` });
  await call('productCategory.get', manager, [drinks.id], has({ title: drinks.title }));
  await call('productCategory.list', manager, [{ filter: { title: run } }], holds(food.id));
  await call('productCategory.patch', manager, [drinks.id, { description: 'Hot' }],
    has({ description: 'Hot', title: drinks.title }));
  await call('productCategory#patch', drinks, [{ description: 'Cold' }], has({ description: 'Cold' }));
  await call('productCategory.reorder', manager, [food.id, { subsequentId: drinks.id }], isTrue);
  await call('productCategory#reorder', drinks, [{ subsequentId: food.id }], isTrue);
  const listed = await manager.list({ filter: { title: run } });
  assert.deepEqual(listed.results.map(({ id }) => id), [drinks.id, food.id], 'as reordered');
  await call('productCategory.delete', manager, [food.id], isTrue);
  await gone(manager.get(food.id));
  const empty = await manager.create({ title: `Empty ${run}` });
  await call('productCategory#delete', empty, [], isTrue);
  await gone(manager.get(empty.id));
  return drinks;
}

async function taxRates({ call, shop }) {
  const manager = shop.taxRate;
  const vat = await call('taxRate.create', manager, [{ name: `VAT ${run}`, rate: '20' }],
    has({ name: `VAT ${run}`, rate: '20.00000000' }));
  await call('taxRate.get', manager, [vat.id], has({ name: vat.name }));
  await call('taxRate.list', manager, [{ filter: { name: run } }], holds(vat.id));
  await call('taxRate.patch', manager, [vat.id, { rate: '21' }], has({ rate: '21.00000000' }));
  await call('taxRate#patch', vat, [{ rate: '20' }], has({ rate: '20.00000000' }));
  const [first, second] = [await manager.create({ name: 'a', rate: '1' }),
    await manager.create({ name: 'b', rate: '2' })];
  await call('taxRate.delete', manager, [first.id], isTrue);
  await call('taxRate#delete', second, [], isTrue);
  await gone(manager.get(first.id));
  await gone(manager.get(second.id));
  return vat;
}

async function questions({ call, shop }) {
  const manager = shop.question;
  const make = title => ({ productTypeCode: 'physical', title: `${title} ${run}`, typeCode: 'text' });
  const text = await call('question.create', manager, [make('Engraving')],
    has({ required: false, typeCode: 'text' }));
  const note = await manager.create(make('Note'));
  await call('question.get', manager, [text.id], has({ title: text.title }));
  await call('question.list', manager, [{ filter: { title: run } }], holds(note.id));
  await call('question.patch', manager, [text.id, { required: true }], has({ required: true }));
  await call('question#patch', text, [{ required: false }], has({ required: false }));
  await call('questionType.list', shop.questionType, [], holds('text'));
  const [first, second] = [await manager.create(make('One')), await manager.create(make('Two'))];
  await call('question.delete', manager, [first.id], isTrue);
  await call('question#delete', second, [], isTrue);
  await gone(manager.get(first.id));
  await gone(manager.get(second.id));
  return [text, note];
}

async function products({ call, shop }, category, tax, [text, note]) {
  const manager = shop.product;
  const make = (name, price) => ({
    allowChoosingQuantity: true, assetCode: 'usd', bonus: '1', categoryId: category.id,
    name: `${name} ${run}`, price, taxRateId: tax.id
  });
  const coffee = await call('product.create', manager, [make('Coffee', '10')],
    has({ price: '10.00000000', priceWithTax: '12.00000000' }));
  const tea = await manager.create(make('Tea', '5'));
  await call('product.get', manager, [coffee.id], has({ name: coffee.name }));
  await call('product.list', manager, [{ filter: { name: run }, sort: [{ name: 'order' }] }],
    holds(tea.id));
  await call('product.patch', manager, [coffee.id, { featured: true }], has({ featured: true }));
  await call('product#patch', coffee, [{ featured: false }], has({ featured: false }));
  await call('product.reorder', manager, [tea.id, { subsequentId: coffee.id }], isTrue);
  await call('product#reorder', coffee, [{ subsequentId: tea.id }], isTrue);
  const { results } = await manager.list({ filter: { name: run }, sort: [{ name: 'order' }] });
  assert.deepEqual(results.map(({ id }) => id), [coffee.id, tea.id], 'as reordered');

  await call('product.createQuestion', manager, [tea.id, { questionId: text.id }],
    has({ productId: tea.id, questionId: text.id }));
  await call('product#createQuestion', tea, [{ questionId: note.id }],
    has({ productId: tea.id, questionId: note.id }));
  await call('product.reorderQuestion', manager, [tea.id, note.id, { subsequentId: text.id }], isTrue);
  await call('product#reorderQuestion', tea, [text.id, { subsequentId: note.id }], isTrue);
  const asked = await manager.get(tea.id, { include: { questions: true } });
  assert.deepEqual(asked.questions.map(({ id }) => id), [text.id, note.id], 'as reordered');
  await call('product.deleteQuestion', manager, [tea.id, text.id], isTrue);
  await call('product#deleteQuestion', tea, [note.id], isTrue);
  assert.deepEqual((await manager.get(tea.id, { include: { questions: true } })).questions, []);

  const [first, second] = [await manager.create(make('One', '1')), await manager.create(make('Two', '2'))];
  await call('product.delete', manager, [first.id], isTrue);
  await call('product#delete', second, [], isTrue);
  await gone(manager.get(first.id));
  await gone(manager.get(second.id));
  return { coffee, tea };
}

module.exports = async run => {
  const category = await categories(run);
  const tax = await taxRates(run);
  return products(run, category, tax, await questions(run));
};
Object.assign(module.exports, { gone, has, holds, isTrue, run });
