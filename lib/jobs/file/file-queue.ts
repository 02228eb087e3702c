import { parseJson } from '../../base/index.ts';
import { type EndedJobRow, hasEnded } from '../ledger/job-row.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Queue, QueueMessage } from '../queue/queue.ts';
import { inGroups } from '../results/read-listed.ts';
import { isServiceAway } from '../service-away.ts';
import type { FileRow } from './job-file.ts';

export type FileQueueOptions = {
  /** All rows, from the beginning. */
  readonly rows: () => AsyncIterable<FileRow>;
  readonly ledger: Pick<Ledger, 'read'>;
  readonly sender: string;
  /** Called for each job that has ended before its row was received, or while another process had it. */
  readonly onEndedElsewhere: (row: EndedJobRow) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** How many rows are looked up in the ledger at once. */
const AT_ONCE = 16;

/** How often it is looked whether another process has ended a job that it had, of how many at most. */
const LOOK_EVERY_MS = 1_000;
const MOST_LOOKED_AT = 100;

/**
 * The rows of a file as a queue: the ledger says which have ended, and the file what the others are, so nothing else is
 * stored. Two processes share the rows, since a job that one has is put back by the other. Rows that were put back are
 * read again from the file: memory holds their ids alone.
 */
export function createFileQueue(options: FileQueueOptions): Queue {
  const { sender, now } = options;
  const state: State = { hidden: new Map(), isThrough: false };
  const again = new Set<string>();
  const next = wantedRows(state, options);
  let lookedAtMs = 0;
  return {
    async receive({ most, visibilitySeconds }) {
      const messages: QueueMessage[] = [];
      while (messages.length < most) {
        const { value: row } = await next.next();
        if (row === undefined) break;
        const { id, body } = row;
        messages.push({ messageId: id, receipt: id, body, sender, receives: state.hidden.has(id) ? 2 : 1 });
        state.hidden.set(id, { untilMs: now() + visibilitySeconds * 1_000, isInHand: true });
      }
      if (messages.length === 0 && state.isThrough && now() - lookedAtMs >= LOOK_EVERY_MS) {
        lookedAtMs = now();
        await lookElsewhere(state, options);
      }
      return messages;
    },
    async delete(id) {
      if (again.delete(id)) state.hidden.set(id, { untilMs: now(), isInHand: false });
      else state.hidden.delete(id);
    },
    async delay(id, delayMs) {
      state.hidden.set(id, { untilMs: now() + delayMs, isInHand: false });
    },
    async extend(id, visibleAfterMs) {
      state.hidden.set(id, { untilMs: now() + visibleAfterMs, isInHand: true });
    },
    /** A message replaces that of its job: its row is read again. */
    async send(bodies) {
      for (const body of bodies) again.add((parseJson(body) as { readonly id: string }).id);
    },
    polls: { waitSeconds: 0, quiet: 1, areCountsExact: true },
    counts: async () => ({ waiting: state.isThrough ? 0 : 1, inFlight: 0, delayed: state.hidden.size }),
  };
}

type Hidden = { readonly untilMs: number; readonly isInHand: boolean };

type State = {
  /** Rows in hand, and those that were put back. One that nobody could handle stays in hand until it is due. */
  readonly hidden: Map<string, Hidden>;
  /** All rows have been read once. */
  isThrough: boolean;
};

/** The rows to hand out, one by one; undefined where there is none for now. */
async function* wantedRows(state: State, options: FileQueueOptions): AsyncGenerator<FileRow | undefined> {
  const isDue = (row: Hidden | undefined) => row !== undefined && row.untilMs <= options.now();
  for (;;) {
    for await (const group of inGroups(options.rows(), AT_ONCE)) {
      const due = group.filter(({ id }) => !state.isThrough || isDue(state.hidden.get(id)));
      const ended = await Promise.all(due.map((row) => endedElsewhere(row, state, options)));
      yield* due.filter((_, index) => !ended[index]);
    }
    state.isThrough = true;
    do yield undefined;
    while (!state.hidden.values().some(isDue));
  }
}

/** Whether the row's job has ended. The ledger has compared the content of one that was put back. */
async function endedElsewhere(
  { id, contentHash }: Pick<FileRow, 'id'> & Partial<FileRow>,
  { hidden }: State,
  { ledger, onEndedElsewhere }: FileQueueOptions,
): Promise<boolean> {
  const row = await ledger.read(id).catch((error: unknown) => {
    // Whoever handles the message waits until the table is back.
    if (!isServiceAway(error)) throw error;
  });
  if (row === undefined || !hasEnded(row)) return false;
  if (contentHash !== undefined && row.contentHash !== contentHash) return false;
  hidden.delete(id);
  onEndedElsewhere(row);
  return true;
}

/** Another process need not be waited for until the end of its lease. */
async function lookElsewhere(state: State, options: FileQueueOptions): Promise<void> {
  const back = state.hidden.entries().filter(([, { isInHand }]) => !isInHand);
  await Promise.all([...back.take(MOST_LOOKED_AT)].map(([id]) => endedElsewhere({ id }, state, options)));
}
