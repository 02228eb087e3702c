import { GetDurableExecutionStateCommand } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import { createCheckpointClient } from '../../../functions/snapshot/checkpoint-client.ts';
import { startProxy } from '../../platform/proxy-server.ts';

const state = new GetDurableExecutionStateCommand({ DurableExecutionArn: 'arn:any', CheckpointToken: 'any' });

const environment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'any',
  AWS_SECRET_ACCESS_KEY: 'any',
  AWS_ENDPOINT_URL_LAMBDA: 'https://lambda.invalid',
  AWS_MAX_ATTEMPTS: '1',
};

test.each([
  ['go through the proxy', {}, ['CONNECT lambda.invalid:443']],
  ['bypass the proxy if NO_PROXY names the service', { NO_PROXY: '.invalid' }, []],
])('the requests that store steps of a durable execution %s', async (_, exceptions, connects) => {
  await using proxy = await startProxy({ refuse: '403 Forbidden' });
  const client = createCheckpointClient({ ...environment, ...exceptions, HTTPS_PROXY: proxy.url });

  await expect(client.send(state)).rejects.toThrow();

  expect([...new Set(proxy.connects)]).toEqual(connects);
});
