import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { inGroups, requestOf, textsOf } from './platform-requests.js';
import { batchHandler, persistenceStore, post, store } from './powertools-handler.js';

/*
 * The other way that Powertools' documentation shows: not the record is idempotent but the call that has an effect, as it
 * wraps a payment. A record that fails is delivered again, and the table has the responses that arrived.
 */

const config = new IdempotencyConfig({
  eventKeyJmesPath: 'key',
  throwOnNoIdempotencyKey: true,
  expiresAfterSeconds: 30 * 24 * 60 * 60,
});
const call = makeIdempotent(({ request }) => post(request), { persistenceStore, config });

export const handler = batchHandler(config, async ({ body }) => {
  const message = JSON.parse(body);
  const score = (text) => call({ key: text, request: requestOf({ type: 'text', text }) });
  const run = () => call({ key: message.id, request: requestOf(message) });
  return store(message, await (message.type === 'score' ? inGroups(textsOf(message), 8, score) : run()));
});
