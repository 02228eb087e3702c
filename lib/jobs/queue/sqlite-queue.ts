import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { AwsError, entryError, sleep } from '../../base/index.ts';
import { type SqliteFile, TableError } from '../../table/index.ts';
import {
  EXACT_POLLS,
  MOST_MESSAGE_BYTES,
  type Queue,
  type QueueCounts,
  type QueueMessage,
  sendable,
  UnsentError,
  type UnsentMessage,
} from './queue.ts';

export type SqliteQueueOptions = {
  readonly name: string;
  readonly sender: string;
  /** Where a message goes that would be received more often than `most`. Default: nowhere. */
  readonly deadLetters?: { readonly name: string; readonly most: number };
};

const LOOK_MS = 100;

/** A queue in a file of SQLite. What a process held is delivered again as soon as it has ended. */
export function createSqliteQueue(file: SqliteFile, options: SqliteQueueOptions): Queue {
  const { name, sender } = options;
  const place = `queue ${name} in ${file.path}`;
  const write = <T>(act: string, change: (db: DatabaseSync, self: string) => T) =>
    asQueueError(`${act} ${place}`, () => file.write(act, change));
  const read = <T>(act: string, look: (db: DatabaseSync) => T) =>
    asQueueError(`${act} ${place}`, () => file.read(act, look));
  const hide = (receipt: string, forMs: number, statement: string) =>
    write('hide a message on', (db) => {
      db.prepare(statement).run(Date.now() + Math.ceil(forMs), name, receipt);
    });

  return {
    polls: EXACT_POLLS,
    async send(bodies, { delayMs = 0 } = {}) {
      const { fitting, unsent } = fitted(bodies);
      await write('send to', (db) => {
        const nowMs = Date.now();
        for (const body of fitting)
          db.prepare(SEND).run(randomUUID(), name, body, sender, nowMs, nowMs + Math.ceil(delayMs));
      });
      const [first, ...others] = unsent;
      if (first !== undefined) throw new UnsentError(place, bodies.length, [first, ...others]);
    },
    async receive({ most, waitSeconds, visibilitySeconds }) {
      const endMs = performance.now() + waitSeconds * 1_000;
      for (;;) {
        const received = (await read('look for messages on', (db) => isDue(db, name, file)))
          ? await write('receive from', (db, self) => {
              prepare(db, file, options);
              const visibleMs = Date.now() + Math.ceil(visibilitySeconds * 1_000);
              return db.prepare(RECEIVE).all(visibleMs, self, name, Date.now(), Math.min(10, most));
            })
          : [];
        if (received.length > 0 || performance.now() >= endMs) return received.map(toMessage);
        await sleep(LOOK_MS);
      }
    },
    delete: (receipt) =>
      write('delete a message from', (db) => {
        db.prepare('DELETE FROM messages WHERE queue = ? AND receipt = ?').run(name, receipt);
      }),
    delay: (receipt, delayMs) => hide(receipt, delayMs, DELAY),
    extend: (receipt, visibleAfterMs) => hide(receipt, visibleAfterMs, EXTEND),
    counts: async () =>
      toCounts(
        await read('count the messages on', (db) => db.prepare(COUNTS).get({ name, now: Date.now() })),
      ),
  };
}

const endedHolders = (db: DatabaseSync, queue: string, { isAlive }: SqliteFile): readonly string[] =>
  db
    .prepare(HOLDERS)
    .all(queue, Date.now())
    .map(({ holder }) => String(holder))
    .filter((holder) => !isAlive(holder));

/** Whether `receive` would find a message: a look costs no lock and no write. */
const isDue = (db: DatabaseSync, queue: string, file: SqliteFile): boolean =>
  endedHolders(db, queue, file).length > 0 || db.prepare(DUE).get(queue, Date.now()) !== undefined;

/** Makes visible what processes held that have ended, and moves what would be received too often to the dead letters. */
function prepare(db: DatabaseSync, file: SqliteFile, { name, deadLetters }: SqliteQueueOptions): void {
  for (const holder of endedHolders(db, name, file)) db.prepare(FREE).run(name, holder);
  if (deadLetters !== undefined) db.prepare(BURY).run(deadLetters.name, name, Date.now(), deadLetters.most);
}

function fitted(bodies: readonly string[]) {
  const unsent: UnsentMessage[] = [];
  const fitting = bodies.map(sendable).filter((body, index) => {
    const fits = Buffer.byteLength(body) <= MOST_MESSAGE_BYTES;
    if (!fits) unsent.push({ index, cause: entryError('TooLong', TOO_LONG), mayBeSent: false });
    return fits;
  });
  return { fitting, unsent };
}

const TOO_LONG = `a message may have at most ${MOST_MESSAGE_BYTES} bytes`;

const SEND =
  'INSERT INTO messages (id, queue, body, sender, sent, visible, receives) VALUES (?, ?, ?, ?, ?, ?, 0)';

const DUE = 'SELECT 1 FROM messages WHERE queue = ? AND visible <= ? LIMIT 1';

const HOLDERS = 'SELECT DISTINCT holder FROM messages WHERE queue = ? AND visible > ? AND holder IS NOT NULL';

const FREE = 'UPDATE messages SET visible = 0, holder = NULL WHERE queue = ? AND holder = ?';

const BURY = `UPDATE messages SET queue = ?, receives = 0, holder = NULL
  WHERE queue = ? AND visible <= ? AND receives >= ?`;

const RECEIVE = `UPDATE messages SET visible = ?, receives = receives + 1, receipt = id || '/' || (receives + 1), holder = ?
  WHERE id IN (SELECT id FROM messages WHERE queue = ? AND visible <= ? ORDER BY visible, sent LIMIT ?)
  RETURNING id, body, sender, sent, receives, receipt`;

const EXTEND = 'UPDATE messages SET visible = ? WHERE queue = ? AND receipt = ?';
const DELAY = 'UPDATE messages SET visible = ?, holder = NULL WHERE queue = ? AND receipt = ?';

const COUNTS = `SELECT sum(visible <= :now) waiting, sum(visible > :now AND receives > 0) inFlight,
  sum(visible > :now AND receives = 0) delayed FROM messages WHERE queue = :name`;

function toCounts(counted: Record<string, unknown> = {}): QueueCounts {
  const of = (state: string) => Number(counted[state] ?? 0);
  return { waiting: of('waiting'), inFlight: of('inFlight'), delayed: of('delayed') };
}

const toMessage = (row: Record<string, unknown>): QueueMessage => ({
  messageId: String(row['id']),
  body: String(row['body']),
  sender: String(row['sender']),
  sentAtMs: Number(row['sent']),
  receives: Number(row['receives']),
  receipt: String(row['receipt']),
});

/** The kinds of failure are those of SQS, whose users are the queue's too. */
async function asQueueError<T>(tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const code = CODES[error.failure.kind as keyof typeof CODES] ?? error.failure.kind;
    throw new AwsError(tried, Object.assign(new Error(error.message, { cause: error }), { code }));
  }
}

const CODES = { busy: 'Throttling', denied: 'AccessDenied', 'bad-table': 'QueueDoesNotExist' } as const;
