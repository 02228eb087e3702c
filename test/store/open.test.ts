import { execFile } from 'node:child_process';
import { chmod, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkStoreExists, keyInStore, openStore } from '../../lib/store/open.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';

test.for([
  ['./platform-sync-data', resolve('platform-sync-data')],
  ['/var/none/such', '/var/none/such'],
  ['./s3/data', resolve('s3/data')],
  ['s3://my-bucket', 's3://my-bucket'],
  ['s3://my-bucket/', 's3://my-bucket'],
  ['s3://my.bucket/a/dt=1', 's3://my.bucket/a/dt=1'],
  ['s3://my-bucket/a/', 's3://my-bucket/a'],
] as const)('%j is a valid location', async ([location, expected]) => {
  const store = await openStore(location, { s3: { AWS_REGION: 'us-east-1' } });

  expect(store.location).toBe(expected);
});

test.for([
  ['', 'expected s3://bucket/prefix or a directory, got ""'],
  ['  ', 'expected s3://bucket/prefix or a directory, got "  "'],
  ['https://user:secret@host/a', 'got "https://***@host/a"'],
  ['S3://bucket', 'expected s3://bucket/prefix or a directory'],
  ['s3:/bucket/a', 'expected s3://bucket/prefix or a directory'],
  ['file:s3://bucket', 'expected s3://bucket/prefix or a directory'],
  ['s3://', 'expected s3://bucket/prefix or a directory'],
  ['s3://My_Bucket/a', 'expected s3://bucket/prefix or a directory'],
  ['s3://bucket//a', 'expected s3://bucket/prefix with a prefix that is a valid key, got "s3://bucket//a"'],
  ['s3://bucket/a/../b', 'expected s3://bucket/prefix with a prefix that is a valid key'],
  ['./package.json', 'expected a directory, got "./package.json"'],
] as const)('%j is not a valid location, and the error says why', async ([location, message]) => {
  const opened = openStore(location);

  await expect(opened).rejects.toMatchObject({ name: 'StoreError', failure: { kind: 'bad-location' } });
  await expect(opened).rejects.toThrow(message);
});

test('a store that is only read must exist', async () => {
  await expect(checkStoreExists('/var/none/such')).rejects.toThrow(
    'expected a directory that exists, got "/var/none/such"',
  );
  await checkStoreExists('.');
  await checkStoreExists('s3://bucket/prefix');
});

test.each(['s3://bucket/a/b', 's3://bucket/a/b/'])(
  'the key in an event is mapped to the store %s',
  (location) => {
    expect(keyInStore(location, 'bucket', 'a/b/inbox/x.csv')).toBe('inbox/x.csv');
    for (const [bucket, key] of [
      ['bucket', 'a/bc/x.csv'],
      ['other', 'a/b/x.csv'],
    ] as const)
      expect(() => keyInStore(location, bucket, key)).toThrow(
        `find an object of the store: expected an object within s3://bucket/a/b/, got "s3://${bucket}/${key}"`,
      );
  },
);

test('a bucket can be opened with an environment or with the caller’s client', async () => {
  await using aws = await startTestAws({ buckets: ['bucket'] });
  const byEnvironment = await openStore(`s3://${aws.bucket('bucket')}/a`, { s3: aws.settings });
  const byClient = await openStore(`s3://${aws.bucket('bucket')}/a`, {
    s3: () => createS3Client(aws.settings),
  });

  await byEnvironment.put('key', Buffer.from('x'));
  const found = await byClient.get('key');

  expect(found?.body).toEqual(Buffer.from('x'));
});

test('a directory is opened without loading the SDK', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'platform-sync-open-'));
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { openStore } = await import('./lib/store/open.ts');
    await (await openStore(${JSON.stringify(directory.path)})).put('a', Buffer.from('x'));
    console.log(loaded.filter((url) => url.includes('@aws-sdk')).length, loaded.length > 5);`;

  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);

  expect(stdout).toBe('0 true\n');
});

test('a path that cannot be a directory is refused immediately, with what is expected', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'open-'));
  const at = (name: string) => join(folder.path, name);
  await symlink(at('nowhere'), at('link'));
  await writeFile(at('file'), '');

  await expect(openStore(at('link'))).rejects.toThrow(
    'expected a directory, or a link to one that exists, got',
  );
  await expect(openStore(at('file/x'))).rejects.toThrow('expected a directory below directories, got');
  await expect(openStore(at('x'.repeat(300)))).rejects.toThrow('expected a directory whose path');
});

test('a path through a missing folder is the same for checking as for writing', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'open-'));
  const through = `${folder.path}/none/../store`;
  await (await openStore(through)).put('a', Buffer.from('1'), { contentType: 'text/plain' });

  await checkStoreExists(through);

  expect((await (await openStore(through)).get('a'))?.body.toString()).toBe('1');
});

test('a location that this user may not see is denied, and the error says what was tried', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'open-'));
  await chmod(folder.path, 0);
  const open = new URL('../../lib/store/open.ts', import.meta.url).href;
  const program = `import(${JSON.stringify(open)}).then(({ openStore }) =>
    openStore(${JSON.stringify(join(folder.path, 'store'))}).catch((error) => console.log(error.message)))`;
  // The superuser may read everything, so another user runs the program.
  const user = process.getuid?.() === 0 ? { uid: 65_534 } : {};

  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], user);

  expect(stdout).toContain('open the store (SYNC_STORE): denied, EACCES');
});
