import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsError, entryError } from '../../base/index.ts';
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
  /** Several queues may lie in one file. */
  readonly name: string;
  /** Who sends, as messages name the sender. */
  readonly sender: string;
  /** Where a message goes that would be received more often than `most`. Default: nowhere. */
  readonly deadLetters?: { readonly name: string; readonly most: number };
};

/** How often a waiting receiver looks again. */
const LOOK_MS = 100;

/** A queue in a file of SQLite. What a process held is delivered again as soon as it has ended. */
export function createSqliteQueue(
  file: SqliteFile,
  { name, sender, deadLetters }: SqliteQueueOptions,
): Queue {
  const place = `queue ${name} in ${file.path}`;
  const write = <T>(act: string, change: (db: DatabaseSync, self: string) => T) =>
    asQueueError(`${act} ${place}`, () => file.write(act, change));

  return {
    polls: EXACT_POLLS,
    async send(bodies, { delayMs = 0 } = {}) {
      const { fitting, unsent } = fitted(bodies);
      await write('send to', (db) => insert(db, fitting, { name, sender, delayMs }));
      const [first, ...others] = unsent;
      if (first !== undefined) throw new UnsentError(place, bodies.length, [first, ...others]);
    },
    async receive({ most, waitSeconds, visibilitySeconds }) {
      const endMs = performance.now() + waitSeconds * 1_000;
      for (;;) {
        const received = (await asQueueError(`look for messages on ${place}`, () => isDue(file, name)))
          ? await write('receive from', (db, self) => {
              free(db, name, file.isAlive);
              if (deadLetters !== undefined) bury(db, name, deadLetters);
              const visibleMs = Date.now() + Math.ceil(visibilitySeconds * 1_000);
              return take(db, { name, self, visibleMs, most: Math.min(10, most) });
            })
          : [];
        if (received.length > 0 || performance.now() >= endMs) return received;
        await delay(LOOK_MS);
      }
    },
    delete: (receipt) =>
      write('delete a message from', (db) => {
        db.prepare('DELETE FROM messages WHERE queue = ? AND receipt = ?').run(name, receipt);
      }),
    delay: (receipt, delayMs) =>
      write('delay a message on', (db) => {
        db.prepare('UPDATE messages SET visible = ?, holder = NULL WHERE queue = ? AND receipt = ?').run(
          Date.now() + Math.ceil(delayMs),
          name,
          receipt,
        );
      }),
    extend: (receipt, visibleAfterMs) =>
      write('extend a message on', (db) => {
        const hidden = 'UPDATE messages SET visible = ? WHERE queue = ? AND receipt = ?';
        db.prepare(hidden).run(Date.now() + Math.ceil(visibleAfterMs), name, receipt);
      }),
    counts: () => asQueueError(`count the messages on ${place}`, () => countsIn(file, name)),
  };
}

async function countsIn(file: SqliteFile, name: string): Promise<QueueCounts> {
  const counted = await file.read('count', (db) => db.prepare(COUNTS).get({ name, now: Date.now() }));
  const of = (state: string) => Number(counted?.[state] ?? 0);
  return { waiting: of('waiting'), inFlight: of('inFlight'), delayed: of('delayed') };
}

/** Whether `receive` would find a message: a look costs no lock and no write. */
const isDue = (file: SqliteFile, queue: string) =>
  file.read('look for messages', (db) => {
    if (holders(db, queue).some((holder) => !file.isAlive(holder))) return true;
    const due = 'SELECT 1 FROM messages WHERE queue = ? AND visible <= ? LIMIT 1';
    return db.prepare(due).get(queue, Date.now()) !== undefined;
  });

function fitted(bodies: readonly string[]) {
  const unsent: UnsentMessage[] = [];
  const fitting = bodies.map(sendable).filter((body, index) => {
    const fits = Buffer.byteLength(body) <= MOST_MESSAGE_BYTES;
    if (!fits) unsent.push({ index, cause: entryError('TooLong', TOO_LONG), mayBeSent: false });
    return fits;
  });
  return { fitting, unsent };
}

type Insert = { readonly name: string; readonly sender: string; readonly delayMs: number };

function insert(db: DatabaseSync, bodies: readonly string[], { name, sender, delayMs }: Insert): void {
  const nowMs = Date.now();
  for (const body of bodies)
    db.prepare(SEND).run(randomUUID(), name, body, sender, nowMs, nowMs + Math.ceil(delayMs));
}

type Take = {
  readonly name: string;
  readonly self: string;
  readonly visibleMs: number;
  readonly most: number;
};

const take = (db: DatabaseSync, { name, self, visibleMs, most }: Take): readonly QueueMessage[] =>
  db.prepare(RECEIVE).all(visibleMs, self, name, Date.now(), most).map(toMessage);

const SEND =
  'INSERT INTO messages (id, queue, body, sender, sent, visible, receives) VALUES (?, ?, ?, ?, ?, ?, 0)';

const RECEIVE = `UPDATE messages SET visible = ?, receives = receives + 1, receipt = id || '/' || (receives + 1), holder = ?
  WHERE id IN (SELECT id FROM messages WHERE queue = ? AND visible <= ? ORDER BY visible, sent LIMIT ?)
  RETURNING id, body, sender, sent, receives, receipt`;

const TOO_LONG = `a message may have at most ${MOST_MESSAGE_BYTES} bytes`;

const COUNTS = `SELECT sum(visible <= :now) waiting, sum(visible > :now AND receives > 0) inFlight,
  sum(visible > :now AND receives = 0) delayed FROM messages WHERE queue = :name`;

const holders = (db: DatabaseSync, queue: string): readonly string[] =>
  db
    .prepare('SELECT DISTINCT holder FROM messages WHERE queue = ? AND visible > ? AND holder IS NOT NULL')
    .all(queue, Date.now())
    .map(({ holder }) => String(holder));

/** Moves what would be received too often to the dead letters. */
function bury(db: DatabaseSync, name: string, to: NonNullable<SqliteQueueOptions['deadLetters']>): void {
  const dead = `UPDATE messages SET queue = ?, receives = 0, holder = NULL
    WHERE queue = ? AND visible <= ? AND receives >= ?`;
  db.prepare(dead).run(to.name, name, Date.now(), to.most);
}

/** Makes visible what processes held that have ended. */
function free(db: DatabaseSync, queue: string, isAlive: SqliteFile['isAlive']): void {
  for (const holder of holders(db, queue))
    if (!isAlive(holder))
      db.prepare('UPDATE messages SET visible = 0, holder = NULL WHERE queue = ? AND holder = ?').run(
        queue,
        holder,
      );
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
