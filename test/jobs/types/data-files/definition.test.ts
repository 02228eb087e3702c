import { expect, test } from 'vitest';
import type { Turn } from '../../../../lib/jobs/turn.ts';
import { dataFilesRunner } from '../../../../lib/jobs/types/data-files/definition.ts';
import { type Call, PlatformError } from '../../../../lib/platform/index.ts';

/** Reads data files of a platform that responds to each id with its number, or with this status. */
const read = (statuses: Readonly<Record<string, number>>, { expand, log = [] }: Asked = {}) => {
  const raw = async (_: unknown, { path, query }: GivenInput, { beforeSend, onLeave }: Turn) => {
    const { dataFileId: id } = path;
    await beforeSend();
    onLeave();
    log.push(`${id} ${JSON.stringify(query)}`);
    const status = statuses[id] ?? 200;
    if (status !== 200)
      throw new PlatformError(
        { kind: 'status', status },
        { operation: 'getDataFile', about: id, attempts: 1 },
      );
    return { text: ` {"dataFileId":${id}} `, json: { dataFileId: Number(id) } };
  };
  const ids = Object.keys(statuses);
  const job = { version: 1, type: 'data-files', id: 'job-1', ids, expand } as const;
  return dataFilesRunner({ raw } as unknown as Call)(job, {
    signal: new AbortController().signal,
    beforeSend: async () => void log.push('recorded'),
    onLeave: () => void log.push('leaves'),
  });
};

type GivenInput = { readonly path: { readonly dataFileId: string }; readonly query: object };
type Asked = { readonly expand?: readonly ('revisions' | 'metadata')[] | undefined; readonly log?: string[] };

test('files that are gone, or not to be seen, are missing; the others are as they came', async () => {
  const outcome = await read({ 1: 200, 2: 404, 3: 403 });

  expect(outcome).toEqual({
    status: 'done',
    response: '{"files":[{"dataFileId":1}],"missing":[{"id":"2","status":404},{"id":"3","status":403}]}',
  });
});

test.each([
  [undefined, '{}'],
  [['revisions', 'metadata'] as const, '{"expand":"revisions,metadata"}'],
])('each is recorded before it leaves, and asks for what is to be expanded: %j', async (expand, query) => {
  const log: string[] = [];

  await read({ 1: 200 }, { expand, log });

  expect(log).toEqual(['recorded', 'leaves', `1 ${query}`]);
});

test('any other refusal ends the attempt', async () => {
  await expect(read({ 1: 200, 2: 400 })).rejects.toThrow('400');
});
