import { userInfo } from 'node:os';
import type { AwsEnvironment } from '../../base/aws/index.ts';
import { sqlitePath, withDefaultLocations } from '../../locations.ts';
import { openSqliteFile, tableCheckOf } from '../../table/index.ts';
import type { Queue } from './queue.ts';

/** The name of the sender on this machine: the user's name or, in a container without user names, the user's number. */
export function localSender(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** How many times a message may be received before it goes to the dead-letter queue, as in the SQS template. */
const MAX_RECEIVES = 1_000;

/** Opens the queue at this location, in SQS or in a SQLite file. Loads only the adapter that is needed. */
export async function openQueue(
  location: string,
  environment: AwsEnvironment,
  name: 'jobs' | 'dead' = 'jobs',
): Promise<Queue> {
  const path = sqlitePath(location);
  if (path === undefined) {
    const { createSqsClient, createSqsQueue } = await import('./sqs-queue.ts');
    return createSqsQueue(location, createSqsClient(location, environment));
  }
  const [file, { createSqliteQueue }] = await Promise.all([
    openSqliteFile(path),
    import('./sqlite-queue.ts'),
  ]);
  const deadLetters = name === 'dead' ? {} : { deadLetters: { name: 'dead', max: MAX_RECEIVES } };
  const queue = createSqliteQueue(file, { name, sender: localSender(), ...deadLetters });
  // Checks that the table is the ledger of this store: another ledger does not know the jobs that were sent before, so
  // they would be sent again.
  const { SYNC_TABLE: table } = withDefaultLocations(environment);
  const check = table === undefined ? undefined : tableCheckOf(table, environment);
  return {
    ...queue,
    async send(...args) {
      await check?.();
      return queue.send(...args);
    },
  };
}
