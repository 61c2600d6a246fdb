// A typed client of the OpenAPI document against a running stack: `npm start` generates the types, and
// compiling this file is half of the test. Needs GUERDON_URL and GUERDON_API_KEY.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/api.d.ts';

type Product = components['schemas']['Product'];

const { GUERDON_URL: baseUrl, GUERDON_API_KEY: apikey } = process.env;
assert(baseUrl && apikey, 'set GUERDON_URL and GUERDON_API_KEY');

const api = createClient<paths>({ baseUrl, headers: { apikey } });
const run = randomBytes(4).toString('hex');

const category = await api.POST('/categories', { body: { title: `Drinks ${run}` } });
assert.equal(category.response.status, 201, JSON.stringify(category.error));
const categoryId: string = category.data!.data.id;

const created = await api.POST('/products', {
  body: { name: `Coffee ${run}`, categoryId, price: '12.50', assetCode: 'usd' },
  params: { header: { 'Idempotency-Key': run } },
});
const product: Product = created.data!.data;
assert.equal(created.response.headers.get('location'), `/products/${product.id}`);
assert.equal(product.price, '12.50000000');

const list = await api.GET('/products', {
  params: { query: { 'filter[categoryId]': categoryId, sort: ['-createdAt'], include: ['category'], 'page[size]': 10 } },
});
assert.equal(list.data!.total, 1);
assert.equal(list.data!.data[0]?.category?.title, `Drinks ${run}`);

const refused = await api.PATCH('/products/{id}', {
  params: { path: { id: product.id } },
  body: { price: '1e3' },
});
assert.equal(refused.error?.code, 'validation_failed');
assert.deepEqual(refused.error?.errors.map(error => [error.field, error.code]), [['price', 'format']]);

const deleted = await api.DELETE('/products/{id}', { params: { path: { id: product.id } } });
assert.equal(deleted.response.status, 204);

console.log('ok: the TypeScript client');
