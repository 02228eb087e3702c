import type { Change } from '../../../snapshot/changes/change.ts';
import { type PublishedRun, publishedKeys } from '../../../snapshot/changes/published-runs.ts';
import { storedChanges } from '../../../snapshot/changes/stored-changes.ts';
import type { Place } from '../../../snapshot/keys.ts';
import { type Manifest, manifestOf } from '../../../snapshot/manifest.ts';
import { missingObject } from '../../../store/stored-json.ts';
import { storedTables } from '../../stored-tables.ts';
import { orReport } from '../or-report.ts';
import { duckDbColumns } from '../record-columns.ts';
import { type TextRow, writeRows } from '../row-file.ts';
import type { Session } from '../session.ts';
import type { Piece, Table } from '../table.ts';
import { dayOf } from './run-tables.ts';

/** What each published run changed against the run before, a piece for each run. */
export const changesTable = (session: Session, places: readonly Place[]): Table => ({
  name: 'stored_changes',
  columns: duckDbColumns(storedTables.changes.columns),
  pieceColumns: ['place', 'dt', 'run'],
  pieces: () => Array.fromAsync(changePieces(session, places)),
});

async function* changePieces(session: Session, places: readonly Place[]): AsyncGenerator<Piece> {
  for (const place of places)
    for (const run of (await orReport(session, publishedKeys(session.store, place, session))) ?? [])
      yield pieceOf(session, place, run);
}

/** How many times larger changes are than their object, about. */
const UNPACKED = 10;

const pieceOf = (session: Session, place: Place, { run, manifest: key }: PublishedRun): Piece => ({
  values: [place, dayOf({ run, manifest: key }), run],
  async prepare() {
    const manifest = await orReport(session, manifestOf(session.store, key, { place, run }));
    const changes = manifest?.changes;
    if (!changes) return undefined;
    const { value: object } = await session.store.list(changes.key).next();
    const sizeBytes = object?.sizeBytes ?? 0;
    return {
      bytes: sizeBytes,
      copiedBytes: sizeBytes * UNPACKED,
      load: async () => {
        const file = await orReport(session, writeRows(session.folder, rowsOf(session, changes)));
        return file === undefined ? [] : [file];
      },
    };
  },
});

/** Throws `StoredObjectError` if changes that a manifest names are gone: no rows would be a wrong answer. */
async function* rowsOf(
  { store, signal }: Session,
  changes: NonNullable<Manifest['changes']>,
): AsyncGenerator<TextRow> {
  const stored = await storedChanges({ store, changes, signal });
  if (stored === undefined) throw missingObject(store, changes.key, 'changes');
  for await (const change of stored) yield rowOf(change);
}

const rowOf = (change: Change): TextRow => ({
  change: change.change,
  key: change.key,
  before: 'before' in change ? change.before : null,
  after: 'after' in change ? change.after : null,
  fields: 'fields' in change ? change.fields : [],
});
