import { expect, test } from 'vitest';
import { linkToReport } from '../../../lib/cli/commands/report.ts';
import { printCommandResult } from '../../../lib/cli/terminal/terminal.ts';
import type { Store } from '../../../lib/store/store.ts';
import { printStored } from '../../../lib/store/stored-json.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { createFakeTerminal } from '../fake-terminal.ts';

const NOON = Date.UTC(2026, 10, 22, 12);

const environment = {
  SYNC_STORE: 's3://acme/teams',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
};

/** Requests a link at noon, to a report that was written ten minutes earlier. */
async function requestLink(
  given: Partial<Store> = {},
  { json, ...more }: { readonly json?: true; readonly AWS_SESSION_TOKEN?: string } = {},
) {
  const store = createMemoryStore();
  const report = { version: 1, writtenAt: NOON - 600_000, runs: { cards: 'r' } };
  await store.put('report/latest.json', printStored(report));
  const { terminal, out, err } = createFakeTerminal({ ...environment, ...more });
  const openStore = async () => ({ ...store, location: environment.SYNC_STORE, ...given });
  const found = await linkToReport({ hours: 2, json }, { ...terminal, openStore }, () => NOON);
  const ended = printCommandResult(found, json, terminal);
  return { ended, out: out(), err: err().split('\n') };
}

test('the link alone is printed to standard output; the age of the report and of the link go to standard error', async () => {
  const { ended, out, err } = await requestLink();

  const url = new URL(out);
  expect(url.host + url.pathname).toBe('acme.s3.eu-central-1.amazonaws.com/teams/report/latest.html');
  expect(url.searchParams.get('X-Amz-Expires')).toBe('7200');
  expect(err).toEqual(['written 10 min ago; anyone with the link can read it until 2026-11-22 14:00 UTC']);
  expect(ended).toBe('done');
});

test('the message says that a link with temporary credentials may expire sooner', async () => {
  const { err } = await requestLink({}, { AWS_SESSION_TOKEN: 'token' });

  expect(err[1]).toBe('your credentials are temporary: if they expire earlier, the link stops working then');
});

test('--json prints the link as one value', async () => {
  const { out } = await requestLink({}, { json: true });

  expect(JSON.parse(out)).toEqual({
    link: expect.stringContaining('X-Amz-Signature='),
    until: '2026-11-22T14:00:00.000Z',
    isTemporary: false,
    writtenAt: '2026-11-22T11:50:00.000Z',
    runs: { cards: 'r' },
  });
});

test('for a directory the link is the path of the file', async () => {
  const fileOf = async () => ({ path: '/data/a b/report/latest.html', sizeBytes: 9 });

  const { out, err } = await requestLink({ fileOf });

  expect(out).toBe('file:///data/a%20b/report/latest.html');
  expect(err).toEqual(['written 10 min ago']);
});

test('without a report there is no link, and the message says what writes a report', async () => {
  await expect(requestLink({ get: async () => undefined })).rejects.toThrow(
    'report/latest.html in s3://acme/teams: expected the report, which the function write-report writes',
  );
});
