'use strict';

// The methods without an endpoint, each with arguments of the right form.

const id = '0192abcd-0000-7000-8000-00000000000f';

// Called, to see that they are still refused.
const absent = {
  'bankAccount.get': [id],
  'bankAccount.list': [],
  'bankAccountRegion.list': [],
  'connection.create': [{ name: 'x' }],
  'connection.get': [id],
  'connection.list': [],
  'connection.patch': [id, { name: 'x' }],
  'identity.approve': [id],
  'identity.cancel': [id],
  'identity.create': [{ userId: id }],
  'identity.delete': [id],
  'identity.get': [id],
  'identity.list': [],
  'identity.reject': [id],
  'identity.submit': [id],
  'identityDocument.create': [id, { type: 'passport' }],
  'identityDocument.delete': [id, id],
  'identityDocument.get': [id, id],
  'identityDocument.list': [id],
  'productImage.create': [id, { image: 'a.png' }],
  'productImage.delete': [id, id],
  'productImage.get': [id, id],
  'productImage.list': [id],
  'productImage.reorder': [id, id],
  'rate.patchMultiple': [[{ rate: '1' }]],
  'setting.get': ['currency'],
  'setting.list': [],
  'task.completeSurvey': [id, { answers: [] }],
  'task.getStatistics': [id],
  'task.listAnswers': [id],
  'taskStep.get': [id, id],
  'taskStep.list': [id],
  'taskStep.patch': [id, id, { title: 'x' }],
  'taskStepQuestion.list': [id, id],
  'transaction.patch': [id, { description: 'x' }],
  'transaction.patchMultiple': [[{ id }]],
  'transaction.request': [{ amount: '1' }],
  'user.changePhone': [id, { phone: '+351210000000' }],
  'user.confirmPhone': [{ token: 'x' }],
  'user.getReferralProgram': [id, 'task'],
  'userBankAccount.create': [{ userId: id }],
  'userBankAccount.delete': [id],
  'userBankAccount.get': [id],
  'userBankAccount.list': [],
  'userBankAccount.patch': [id, { name: 'x' }]
};

// Methods of objects that lead to some of these.
const objects = [
  'asset#getConnection',
  'bankAccount#getAsset',
  'bankAccountRegion#getAssets',
  'identity#getDocument',
  'identity#listDocuments',
  'task#listSteps',
  'taskStep#listQuestions',
  'userBankAccount#getAsset'
];

module.exports = { absent, objects };
