import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlitePath, withDefaultLocations } from '../../lib/locations.ts';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';

/** The services that jobs need: their settings. Disposing it ends them. */
export type JobServices = AsyncDisposable & { readonly settings: Readonly<Record<string, string>> };

export const jobServices: Readonly<Record<string, () => Promise<JobServices>>> = {
  async AWS() {
    const aws = await startTestAws({
      buckets: ['jobs'],
      queues: [{ name: 'jobs', visibilitySeconds: 3 }],
      tables: ['ledger'],
    });
    const settings = {
      ...aws.settings,
      SYNC_STORE: `s3://${aws.bucket('jobs')}`,
      SYNC_TABLE: 'ledger',
      SYNC_QUEUE_URL: aws.queueUrl('jobs'),
    };
    return { settings, [Symbol.asyncDispose]: aws.close };
  },
  async 'a folder alone'() {
    const folder = await mkdtemp(join(tmpdir(), 'killed-worker-'));
    const { SYNC_QUEUE_URL = '' } = withDefaultLocations({ SYNC_STORE: folder });
    const close = async () => {
      sqliteFile(sqlitePath(SYNC_QUEUE_URL) ?? '').close();
      await rm(folder, { recursive: true });
    };
    return { settings: { SYNC_STORE: folder, SYNC_QUEUE_URL }, [Symbol.asyncDispose]: close };
  },
};
