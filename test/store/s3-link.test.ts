import { expect, test } from 'vitest';
import { signLink } from '../../lib/store/s3-link.ts';

const environment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
};
const report = { bucket: 'acme', key: 'a prefix/report/latest.html', seconds: 3_600 };

test('a link has the object, its expiry and a signature, and requires no header', async () => {
  const { url, isTemporary, credentialsEnd } = await signLink({ ...report, environment });

  const { host, pathname, searchParams } = new URL(url);
  expect([host, pathname]).toEqual(['acme.s3.eu-central-1.amazonaws.com', '/a%20prefix/report/latest.html']);
  expect(Object.fromEntries(searchParams)).toMatchObject({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Expires': '3600',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(url).not.toContain('secret');
  expect({ isTemporary, credentialsEnd }).toEqual({ isTemporary: false, credentialsEnd: undefined });
});

test('a link with temporary credentials is recognized as such', async () => {
  const temporary = { ...environment, AWS_SESSION_TOKEN: 'token' };

  const { url, isTemporary } = await signLink({ ...report, environment: temporary });

  expect(new URL(url).searchParams.get('X-Amz-Security-Token')).toBe('token');
  expect(isTemporary).toBe(true);
});
