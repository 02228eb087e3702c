import { expect, test } from 'vitest';
import { signerOf } from './signer.ts';

const scope = 'AKIA/20261122/us-east-1/s3/aws4_request';

const linkOf = (begun: string) =>
  `/acme/a?X-Amz-Credential=${encodeURIComponent(scope)}&X-Amz-Date=${begun}&X-Amz-Expires=60`;

const basic = (ms: number) => `${new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;

test('a request is signed by its header, or by the query of a link until that ends', () => {
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`;

  expect(signerOf({ authorization }, '/')).toEqual({ by: 'AKIA', service: 's3' });
  expect(signerOf({}, linkOf(basic(Date.now())))).toEqual({ by: 'AKIA', service: 's3' });
  expect(signerOf({}, linkOf(basic(Date.now() - 61_000)))).toBeUndefined();
});

test.each([
  ['nothing', {}, '/'],
  ['another method', { authorization: `Basic Credential=${scope}` }, '/'],
  ['half of a scope', { authorization: 'AWS4-HMAC-SHA256 Credential=AKIA/20261122' }, '/'],
  ['a link without a time', {}, linkOf('')],
])('%s is no signature', (_, headers, url) => {
  expect(signerOf(headers, url)).toBeUndefined();
});
