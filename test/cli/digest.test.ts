import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { json, startServer } from '../platform/scripted-server.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfAll();
let sandbox: Sandbox;
const SECRET = 'T0/B0/xyzzy-secret';

/** Changes to report: a name with markup that would notify a channel, a deleted calculation, a failed function. */
beforeAll(async () => {
  sandbox = await startPlatform({ calculations: 60, datasets: 2, cards: 10, fileSets: 0, dataFiles: 0 });
  await run(['snapshot', 'calculations']);
  const [first, second] = sandbox.state.calculations.byId();
  const idOf = (sequence = 0) => sandbox.state.calculations.at(sequence).id;
  sandbox.state.calculations.change(idOf(first), { name: 'Hello <!channel> *all*', status: 'INVALID' });
  sandbox.state.calculations.delete(idOf(second));
  await run(['snapshot', 'calculations']);
  const failing = {
    ...{
      version: 1,
      type: 'run-function',
      id: 'fails',
      packageVersion: '1.0.0',
      functionName: 'throwsError',
    },
    packageId: 'b0a94e17-52c3-4d8f-a6e1-07d3f9c2b856',
  };
  await run(['submit', '-'], {}, JSON.stringify(failing));
  await run(['work', '--drain']);
});

afterAll(() => sandbox.close());

const run = (argv: readonly string[], more: Readonly<Record<string, string>> = {}, input = '') =>
  runCommand(argv, { ...settingsOf(sandbox, folder), ...more }, input);

async function posted(service: 'slack' | 'teams', status = 200) {
  await using server = await startServer(json({}, status));
  const ended = await run(['digest', '--to', service], { SYNC_DIGEST_URL: `${server.url}/${SECRET}` });
  return { ...ended, requests: server.requests };
}

describe('the digest', () => {
  test('says what changed since the given time, and which jobs failed and why', async () => {
    const { code, out } = await run(['digest', '--since', '1h']);

    expect(code).toBe(0);
    expect(out).toContain('0 added, 1 removed, 1 changed');
    expect(out).toContain('Hello <!channel> *all*');
    expect(out).toMatch(/New that are invalid: 1\..*\n {2}calculation .* \(\d+\), of \S/);
    expect(out).toContain('failed: run-function fails: ');
    expect(out).toContain('it went wrong on purpose');
    expect(out).toContain('All of it on one page: npx platform-sync report --open');
    expect(out).not.toContain('latest.html');
  });

  test('is printed as one value with the same facts with --json', async () => {
    const { out } = await run(['digest', '--json']);

    const digest = JSON.parse(out);
    expect(digest.places).toEqual([
      expect.objectContaining({
        place: 'calculations',
        records: 59,
        compared: { against: expect.any(String), added: 0, removed: 1, changed: 1 },
      }),
    ]);
    expect(digest.jobs).toEqual([expect.objectContaining({ id: 'fails', status: 'failed' })]);
  });

  test('has one line if there is nothing to report', async () => {
    const more = { SYNC_STORE: join(folder, 'other') };
    await run(['snapshot', 'calculations'], more);
    await run(['snapshot', 'calculations'], more);

    const { code, out } = await run(['digest'], more);

    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^Nothing new since [\d-]+ [\d:]+ UTC$/),
    });
  });

  test('is one post in Slack, and a name in it cannot mention a person', async () => {
    const { code, requests } = await posted('slack');

    expect(code).toBe(0);
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual([`POST /${SECRET}`]);
    const { text } = JSON.parse(requests[0]?.body ?? '');
    expect(text).toContain('Hello &lt;!channel&gt; *all*');
    expect(text).not.toContain('<!channel>');
  });

  test('is a card in Teams whose lines are text without markup', async () => {
    const { requests } = await posted('teams');

    const [attachment] = JSON.parse(requests[0]?.body ?? '').attachments;
    expect(attachment.contentType).toBe('application/vnd.microsoft.card.adaptive');
    const runs = attachment.content.body.map(
      ({ inlines }: { inlines: readonly { text: string }[] }) => inlines[0]?.text,
    );
    expect(runs).toContainEqual(expect.stringContaining('Hello <!channel> *all*'));
    expect(Buffer.byteLength(requests[0]?.body ?? '')).toBeLessThan(28_000);
  });

  test('names only the host of a webhook that refuses it', async () => {
    const { code, err } = await posted('slack', 403);

    expect(code).toBe(1);
    expect(err).toContain('refused the digest: 403');
    expect(err).not.toContain('xyzzy');
  });

  test('is posted again if the webhook asks for a wait, but not if it refuses the post for another reason', async () => {
    await using hook = await startServer(json({}, 429, { 'retry-after': '0' }), json({}, 429), json('ok'));
    const url = `${hook.url}/${SECRET}`;

    const { code, err } = await run(['digest', '--to', 'slack'], { SYNC_DIGEST_URL: url });
    const refused = await posted('slack', 500);

    expect([code, hook.requests.length]).toEqual([0, 3]);
    expect(err).toContain('the webhook for slack is throttling: posting again in');
    expect([refused.code, refused.requests.length]).toEqual([1, 1]);
  });

  test('exits 2 without the URL of a webhook, and does not print an invalid URL', async () => {
    const none = await run(['digest', '--to', 'slack']);
    const wrong = await run(['digest', '--to', 'slack'], { SYNC_DIGEST_URL: 'ftp://hooks/xyzzy-secret' });

    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('SYNC_DIGEST_URL') });
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining('SYNC_DIGEST_URL: expected an address over https'),
    });
    expect(wrong.err).not.toContain('xyzzy');
  });
});
