import { expect, test } from 'vitest';
import type { SendContext } from '../../../../lib/jobs/send-context.ts';
import { dataFiles } from '../../../../lib/jobs/types/data-files/definition.ts';
import { type Call, PlatformError } from '../../../../lib/platform/index.ts';
import { runnerOf } from '../../runner-of.ts';

/** Reads data files from a platform that responds to each id with these statuses. */
const read = (statuses: Readonly<Record<string, number>>, { expand, log = [], signal }: Asked = {}) => {
  const raw = async (
    _: unknown,
    { path, query }: GivenInput,
    { beforeSend, onSend, signal }: SendContext,
  ) => {
    const { dataFileId: id } = path;
    signal.addEventListener('abort', () => log.push(`${id} need not be sent`));
    if (signal.aborted) throw signal.reason;
    await beforeSend();
    onSend();
    log.push(`${id} ${JSON.stringify(query)}`);
    const status = statuses[id] ?? 200;
    if (status !== 200)
      throw new PlatformError(
        { kind: 'status', status },
        { operation: 'getDataFile', about: id, attempts: 1 },
      );
    const dataFileId = OTHERS[id] ?? Number(id);
    return { text: ` {"dataFileId":${dataFileId}} `, json: { dataFileId } };
  };
  const ids = Object.keys(statuses);
  const job = { version: 1, type: 'data-files', id: 'job-1', ids, expand } as const;
  return runnerOf(dataFiles, { call: { raw } as unknown as Call })(job, {
    signal: signal ?? new AbortController().signal,
    beforeSend: async () => void log.push('recorded'),
    onSend: () => void log.push('leaves'),
  });
};

type GivenInput = { readonly path: { readonly dataFileId: string }; readonly query: object };
type Asked = {
  readonly expand?: readonly ('revisions' | 'metadata')[] | undefined;
  readonly log?: string[];
  readonly signal?: AbortSignal;
};

/** Ids for which the platform responds with a different file. */
const OTHERS: Readonly<Record<string, number>> = { 91: 1, 92: 2, 93: 3 };

test('files that do not exist or may not be read are reported as missing; the other files are returned unchanged', async () => {
  const outcome = await read({ 1: 200, 2: 404, 3: 403 });

  expect(outcome).toEqual({
    status: 'done',
    response: '{"files":[{"dataFileId":1}],"missing":[{"id":"2","status":404},{"id":"3","status":403}]}',
  });
});

test.each([
  [undefined, '{}'],
  [['revisions', 'metadata'] as const, '{"expand":"revisions,metadata"}'],
])('each request is recorded before it leaves, and asks for the expansions: %j', async (expand, query) => {
  const log: string[] = [];

  await read({ 1: 200 }, { expand, log });

  expect(log.slice(0, 3)).toEqual(['recorded', 'leaves', `1 ${query}`]);
});

test('any other refusal ends the attempt, and cancels the calls that have not been sent', async () => {
  const log: string[] = [];

  await expect(read({ 1: 200, 2: 400 }, { log })).rejects.toThrow('400');

  expect(log).toContain('1 need not be sent');
});

test('an attempt that is stopped sends nothing', async () => {
  await expect(read({ 1: 200 }, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow(
    'stopped',
  );
});

test.each([
  [{ 1: 200, 91: 200 }, ''],
  [{ 1: 200, 91: 200, 92: 200, 93: 200 }, ', and 2 more like it'],
])(
  'a response with another file fails the job, whose result has the other files: %j',
  async (statuses, more) => {
    const message = `the response does not match the contract: data file 91: dataFileId: expected 91, got 1${more}`;

    expect(await read(statuses)).toEqual({
      status: 'failed',
      error: { kind: 'shape', message },
      response: '{"files":[{"dataFileId":1}],"missing":[]}',
    });
  },
);
