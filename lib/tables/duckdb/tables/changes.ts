import type { Change } from '../../../snapshot/changes/change.ts';
import { storedChanges } from '../../../snapshot/changes/stored-changes.ts';
import type { Place } from '../../../snapshot/keys.ts';
import { storedTables } from '../../stored-tables.ts';
import { orReport } from '../or-report.ts';
import { duckDbColumns } from '../record-columns.ts';
import { type TextRow, writeRows } from '../row-file.ts';
import type { Session } from '../session.ts';
import type { Piece, Table } from '../table.ts';

/** What each published run changed against the run before, a piece for each run. */
export const changesTable = (session: Session, places: readonly Place[]): Table => ({
  name: 'changes',
  about:
    'what each published run changed against the run before; before and after are the records, byte for byte',
  columns: duckDbColumns(storedTables.changes.columns),
  pieceColumns: ['place', 'dt', 'run'],
  pieces: () => Array.fromAsync(changePieces(session, places)),
});

type StoredAt = { readonly place: Place; readonly dt: string; readonly run: string };

async function* changePieces(session: Session, places: readonly Place[]): AsyncGenerator<Piece> {
  for (const place of places) {
    const seen = new Set<string>();
    for (const prefix of [`changes/${place}/`, `${place}/`]) {
      for await (const { key, sizeBytes } of session.store.list(prefix, session)) {
        const [, dt, run] = NAMED.exec(key.slice(prefix.length)) ?? [];
        if (dt === undefined || run === undefined || seen.has(run)) continue;
        seen.add(run);
        yield pieceOf(session, { place, dt, run }, sizeBytes);
      }
    }
  }
}

/** Where changes are now, and where earlier versions put them, below their prefix. */
const NAMED = /^dt=([^/]+)\/(?:run=)?([^/]+?)(?:\.ndjson\.gz|\/_changes\.ndjson\.gz)$/;

/** How many times larger changes are than their object, about. */
const UNPACKED = 10;

const pieceOf = (session: Session, at: StoredAt, sizeBytes: number): Piece => ({
  values: [at.place, at.dt, at.run],
  prepare: async () => ({
    bytes: sizeBytes,
    copiedBytes: sizeBytes * UNPACKED,
    load: async () => {
      const file = await orReport(session, writeRows(session.folder, rowsOf(session, at)));
      return file === undefined ? [] : [file];
    },
  }),
});

async function* rowsOf({ store, signal }: Session, { place, dt, run }: StoredAt): AsyncGenerator<TextRow> {
  const changes = await storedChanges({ store, place, run: { run, startedAt: dt }, signal });
  for await (const change of changes ?? []) yield rowOf(change);
}

const rowOf = (change: Change): TextRow => ({
  change: change.change,
  key: change.key,
  before: 'before' in change ? change.before : null,
  after: 'after' in change ? change.after : null,
  fields: 'fields' in change ? change.fields : [],
});
