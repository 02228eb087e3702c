import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { AwsError, entryError } from '../../base/aws/index.ts';
import { sleep } from '../../base/index.ts';
import { type SqliteFile, TableError } from '../../table/index.ts';
import {
  MAX_MESSAGE_BYTES,
  type Queue,
  type QueueMessage,
  sendable,
  typeIn,
  UnsentError,
  type UnsentMessage,
} from './queue.ts';

type SqliteQueueOptions = {
  readonly name: string;
  readonly sender: string;
  /** The queue to which a message is moved after `max` receives. Default: no message is moved. */
  readonly deadLetters?: { readonly name: string; readonly max: number };
};

/** The time between two looks at the file while `receive` waits, in milliseconds. */
const POLL_MS = 100;

/**
 * Creates a queue in a SQLite file. When a process ends, the messages that it had received are delivered again
 * immediately.
 */
export function createSqliteQueue(file: SqliteFile, options: SqliteQueueOptions): Queue {
  const { name, sender } = options;
  const location = `queue ${name} in ${file.path}`;
  const write = <T>(act: string, change: (db: DatabaseSync, self: string) => T) =>
    asQueueError(`${act} ${location}`, () => file.write(act, change));
  const read = <T>(act: string, look: (db: DatabaseSync) => T) =>
    asQueueError(`${act} ${location}`, () => file.read(act, look));
  const hide = (receipt: string, forMs: number, statement: string) =>
    write('hide a message on', (db) => {
      const now = Date.now();
      const visible = now + Math.ceil(forMs);
      db.prepare(statement).run({ now, visible, ...forReceipt(name, receipt) });
    });

  return {
    // A command ends this soon after its last job.
    polls: { waitSeconds: 0.25, emptyPolls: 1, areCountsExact: true },
    knowsTypes: true,
    async send(bodies, { delayMs = 0 } = {}) {
      const { fitting, unsent } = splitBySize(bodies);
      await write('send to', (db) => {
        const sent = Date.now();
        const values = { name, sender, sent, visible: sent + Math.ceil(delayMs) };
        for (const body of fitting) db.prepare(SEND).run({ ...values, ...messageOf(body) });
      });
      const [first, ...others] = unsent;
      if (first !== undefined) throw new UnsentError(location, bodies.length, [first, ...others]);
    },
    async receive({ waitSeconds, visibilitySeconds, ...limits }) {
      const endMs = performance.now() + waitSeconds * 1_000;
      const room = roomOf(limits);
      const forMs = Math.ceil(visibilitySeconds * 1_000);
      for (;;) {
        const received = (await read('look for messages on', (db) => isDue(db, name, file, room)))
          ? await write('receive from', (db, self) => {
              prepare(db, file, options);
              return take(db, name, { self, room, forMs });
            })
          : [];
        if (received.length > 0 || performance.now() >= endMs) return received.map(toMessage);
        await sleep(POLL_MS);
      }
    },
    delete: (receipt) => write('delete from', (db) => void db.prepare(DELETE).run(forReceipt(name, receipt))),
    delay: (receipt, delayMs) => hide(receipt, delayMs, DELAY),
    extend: (receipt, visibleAfterMs) => hide(receipt, visibleAfterMs, EXTEND),
    ids: async () => ((await read('list the jobs on', (db) => db.prepare(IDS).all(name))) ?? []).map(toId),
    counts: () =>
      read('count the messages on', (db) => db.prepare(COUNTS).get({ name, now: Date.now() })).then(toCounts),
  };
}

const endedHolders = (db: DatabaseSync, queue: string, { isAlive }: SqliteFile): readonly string[] =>
  db
    .prepare(HOLDERS)
    .all(queue)
    .map(({ holder }) => String(holder))
    .filter((holder) => !isAlive(holder));

/** Whether `receive` would find a message. The check takes no lock and writes nothing. */
const isDue = (db: DatabaseSync, name: string, file: SqliteFile, room: Room): boolean =>
  endedHolders(db, name, file).length > 0 ||
  db.prepare(HIDDEN_BY_WRONG_CLOCK).get({ name, until: Date.now() + WRONG_CLOCK_MS }) !== undefined ||
  dueIds(db, name, { ...room, short: Math.min(1, room.short), long: Math.min(1, room.long) }).length > 0;

/** The ids of due messages, up to the free capacity. An index on the type finds them, however many messages wait. */
function dueIds(db: DatabaseSync, name: string, { short, long, types }: Room): readonly string[] {
  const due = db.prepare(DUE);
  const found = db
    .prepare(TYPES)
    .all({ name })
    .flatMap(({ type }) => {
      const isLong = types.includes(String(type));
      return due
        .all({ name, type: String(type), now: Date.now(), max: isLong ? long : short })
        .map(({ id, visible, sent }) => ({
          id: String(id),
          at: Number(visible),
          sent: Number(sent),
          isLong,
        }));
    });
  const inOrder = found.toSorted((a, b) => a.at - b.at || a.sent - b.sent);
  const first = (areLong: boolean, max: number) =>
    inOrder.filter(({ isLong }) => isLong === areLong).slice(0, max);
  return [...first(false, short), ...first(true, long)].map(({ id }) => id);
}

const take = (
  db: DatabaseSync,
  name: string,
  { room, ...values }: { readonly self: string; readonly room: Room; readonly forMs: number },
) => db.prepare(RECEIVE).all({ ...values, now: Date.now(), ids: JSON.stringify(dueIds(db, name, room)) });

/**
 * A message that was hidden at a time further in the future than this, in milliseconds, shows that the clock was set
 * back or was wrong.
 */
const WRONG_CLOCK_MS = 10_000;

/** The SQL parameters for a receipt, which begins with the id of its message. */
const forReceipt = (name: string, receipt: string) => ({
  name,
  receipt,
  id: receipt.slice(0, receipt.lastIndexOf('/')),
});

/** How many more messages of short and of long jobs this worker can take. */
type Room = ReturnType<typeof roomOf>;

function roomOf({
  max,
  long = { types: [], max: 0 },
}: Pick<Parameters<Queue['receive']>[0], 'max' | 'long'>) {
  const short = Math.min(10, max);
  const longOnes = Math.min(10, long.max);
  return { short, long: longOnes, types: long.types };
}

const messageOf = (body: string) => ({ id: randomUUID(), body, type: typeIn(body) });

/**
 * Corrects the times of messages that a wrong clock has hidden too long: they are hidden for the intended time from
 * now. Makes the messages of processes that have ended visible, and moves messages with too many receives to the dead
 * letters.
 */
function prepare(db: DatabaseSync, file: SqliteFile, { name, deadLetters }: SqliteQueueOptions): void {
  const now = Date.now();
  db.prepare(HIDE_FROM_NOW).run({ name, now, until: now + WRONG_CLOCK_MS });
  for (const holder of endedHolders(db, name, file)) db.prepare(MAKE_VISIBLE).run(name, holder);
  if (deadLetters !== undefined)
    db.prepare(MOVE_TO_DEAD_LETTERS).run(deadLetters.name, name, Date.now(), deadLetters.max);
}

function splitBySize(bodies: readonly string[]) {
  const unsent: UnsentMessage[] = [];
  const fitting = bodies.map(sendable).filter((body, index) => {
    const fits = Buffer.byteLength(body) <= MAX_MESSAGE_BYTES;
    if (!fits) unsent.push({ index, cause: entryError('TooLong', TOO_LONG), mayBeSent: false });
    return fits;
  });
  return { fitting, unsent };
}

const TOO_LONG = `a message may have at most ${MAX_MESSAGE_BYTES} bytes`;

const SEND = `INSERT INTO messages (id, queue, body, sender, sent, visible, hidden, type, receives)
  VALUES (:id, :name, :body, :sender, :sent, :visible, :sent, :type, 0)`;

/** SQL that finds the types on the queue, each by one lookup in an index. */
const TYPES = `WITH RECURSIVE kinds(type) AS (
  SELECT (SELECT min(type) FROM messages WHERE queue = :name)
  UNION ALL SELECT (SELECT min(type) FROM messages WHERE queue = :name AND type > kinds.type) FROM kinds
    WHERE kinds.type IS NOT NULL)
  SELECT type FROM kinds WHERE type IS NOT NULL`;

const DUE = `SELECT id, visible, sent FROM messages WHERE queue = :name AND type = :type AND visible <= :now
  ORDER BY visible, sent LIMIT :max`;

const HIDDEN_BY_WRONG_CLOCK = 'SELECT 1 FROM messages WHERE queue = :name AND hidden > :until LIMIT 1';

const HIDE_FROM_NOW = `UPDATE messages SET visible = :now + max(0, visible - hidden), hidden = :now
  WHERE queue = :name AND hidden > :until`;

const HOLDERS = 'SELECT DISTINCT holder FROM messages WHERE queue = ? AND holder IS NOT NULL';

const MAKE_VISIBLE = 'UPDATE messages SET visible = 0, holder = NULL WHERE queue = ? AND holder = ?';

const MOVE_TO_DEAD_LETTERS = `UPDATE messages SET queue = ?, receives = 0, holder = NULL
  WHERE queue = ? AND visible <= ? AND receives >= ?`;

const RECEIVE = `UPDATE messages SET visible = :now + :forMs, hidden = :now, receives = receives + 1,
    receipt = id || '/' || (receives + 1), holder = :self
  WHERE id IN (SELECT value FROM json_each(:ids))
  RETURNING id, body, sender, sent, receives, receipt`;

const OF_RECEIPT = 'WHERE id = :id AND queue = :name AND receipt = :receipt';
const DELETE = `DELETE FROM messages ${OF_RECEIPT}`;
const EXTEND = `UPDATE messages SET visible = :visible, hidden = :now ${OF_RECEIPT}`;
const DELAY = `UPDATE messages SET visible = :visible, hidden = :now, holder = NULL ${OF_RECEIPT}`;

/**
 * SQL that returns the ids of the jobs on a queue. The job of a message without `id` has the queue's id of the message.
 */
const IDS = `SELECT coalesce(CASE WHEN json_valid(body) THEN body ->> '$.id' END, id) job FROM messages WHERE queue = ?`;

const COUNTS = `SELECT sum(visible <= :now) waiting, sum(visible > :now AND receives > 0) inFlight,
  sum(visible > :now AND receives = 0) delayed FROM messages WHERE queue = :name`;

const toId = ({ job }: Record<string, unknown>): string => String(job);

function toCounts(counted: Record<string, unknown> = {}): Awaited<ReturnType<Queue['counts']>> {
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

/** Throws failures that SQS knows too as `AwsError` with SQS's codes. Rethrows any other failure unchanged. */
async function asQueueError<T>(tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const code = CODES[error.failure.kind as keyof typeof CODES];
    if (code === undefined) throw error;
    throw new AwsError('queue', tried, Object.assign(new Error(error.message, { cause: error }), { code }));
  }
}

const CODES = { busy: 'Throttling', 'bad-table': 'QueueDoesNotExist' } as const;
