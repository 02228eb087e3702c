import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RESERVED_FOLDER } from './store/index.ts';

export type Places = Readonly<
  Partial<
    Record<'SYNC_STORE' | 'SYNC_TABLE' | 'SYNC_QUEUE_URL' | 'SYNC_DEAD_LETTER_URL' | 'XDG_STATE_HOME', string>
  >
>;

/** The path in `sqlite:FILE`; undefined for the name of a DynamoDB table or the URL of a queue. */
export const sqlitePath = (place: string): string | undefined => /^sqlite:(.*)/s.exec(place)?.[1];

const fileIn = (place = '') => (sqlitePath(place) === undefined ? undefined : place);

export const DEFAULT_STORE = './platform-sync-data';

/**
 * The settings with the places of what is not set: a file in the store, or, for a store in S3, one of this host. The
 * queues are in the table's file. A queue in SQS has other workers, whose ledger the file would not be: then there is none.
 */
export function withPlaces(given: Places): Places {
  // What is empty is not set.
  const store = given.SYNC_STORE || DEFAULT_STORE;
  const queue = given.SYNC_QUEUE_URL || undefined;
  const isSqs = queue !== fileIn(queue);
  const table = given.SYNC_TABLE || (isSqs ? undefined : `sqlite:${fileOf(store, given)}`);
  const jobs = queue ?? fileIn(table);
  const dead = given.SYNC_DEAD_LETTER_URL || fileIn(jobs);
  return {
    ...given,
    ...(table === undefined ? {} : { SYNC_TABLE: table }),
    ...(jobs === undefined ? {} : { SYNC_QUEUE_URL: jobs }),
    ...(dead === undefined ? {} : { SYNC_DEAD_LETTER_URL: dead }),
  };
}

/** Says so if the table is a file that only commands of this host share, although others may use the store. */
export function warnOfThisHost(given: Places, err: (text: string) => void): void {
  if (given.SYNC_STORE?.startsWith('s3://') && !given.SYNC_TABLE && withPlaces(given).SYNC_TABLE)
    err(OF_THIS_HOST);
}

const OF_THIS_HOST =
  'platform-sync: SYNC_TABLE is not set: what is paid for and sent is recorded in a file of this host, which other hosts do not share';

function fileOf(store: string, given: Places): string {
  if (!store.startsWith('s3://')) return join(store, RESERVED_FOLDER, 'jobs.db');
  const name = createHash('sha256').update(store.replace(/\/$/, '')).digest('hex').slice(0, 16);
  return join(stateFolder(given), `${name}.db`);
}

/** Where what is of this user and host is stored. */
export function stateFolder(
  { XDG_STATE_HOME: given }: Places,
  platform: NodeJS.Platform = process.platform,
): string {
  const [mac, windows] = [
    ['Library', 'Application Support'],
    ['AppData', 'Local'],
  ] as const;
  const words = { darwin: mac, win32: windows }[platform as string] ?? ['.local', 'state'];
  return join(given || join(homedir(), ...words), 'platform-sync');
}
