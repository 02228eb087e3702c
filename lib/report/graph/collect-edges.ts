import type { LastRun } from '../../model/stored/last-runs.ts';
import { createLineField } from '../../snapshot/changes/line-field.ts';
import type { LineReader } from '../../snapshot/changes/line-reader.ts';
import { parsedLine } from '../../snapshot/changes/parsed-line.ts';
import { createRecordFields } from '../../snapshot/changes/record-fields.ts';
import { createEdgeTable, type EdgeTable } from './edge-table.ts';
import { calculationEdges, cardEdges, type Edge, type Thing, thing } from './edges.ts';
import { eachLine, type RunToRead } from './run-lines.ts';

/** A source whose records say who uses whom: what a record is, and its edges. */
type EdgeSource = {
  /** All that is read of a record for its edges and its name. */
  readonly fields: readonly string[];
  readonly thingOf: (record: unknown) => Thing | undefined;
  readonly edgesOf: (record: unknown) => readonly Edge[];
};

const edgeSources: Readonly<Partial<Record<LastRun['source'], EdgeSource>>> = {
  calculations: {
    fields: ['id', 'name', 'links', 'activeLinks'],
    thingOf: thingOfKind('calculation'),
    edgesOf: calculationEdges,
  },
  cards: {
    fields: ['id', 'title', 'datasourceId', '_datasetId'],
    thingOf: thingOfKind('card'),
    edgesOf: cardEdges,
  },
};

/** The runs of a store whose records say who uses whom, and where their faults go. */
export type RunsToRead = Omit<RunToRead, 'run'> & { readonly runs: readonly LastRun[] };

/** All edges that the records of runs state. `see` is called with each record: its id, name and links. */
export async function collectEdges(
  { runs, ...options }: RunsToRead,
  see: (own: Thing, record: unknown) => void,
): Promise<EdgeTable> {
  const table = createEdgeTable();
  for (const run of runs) {
    const source = edgeSources[run.source];
    if (source === undefined) continue;
    const readFields = createRecordFields(source.fields);
    await eachLine({ ...options, run }, (reader) => {
      const record = readFields(reader);
      const own = source.thingOf(record);
      if (own === undefined) return;
      table.things.hold(own);
      for (const edge of source.edgesOf(record)) table.add(edge);
      see(own, record);
    });
  }
  return table;
}

/**
 * Calls `see` with the records of the runs, parsed, whose thing `isWanted`: of the others, only the id is read.
 */
export async function eachWanted(
  { runs, ...options }: RunsToRead,
  isWanted: (own: Thing) => boolean,
  see: (own: Thing, record: unknown, edges: readonly Edge[]) => void,
): Promise<void> {
  const readId = createLineField('id');
  for (const run of runs) {
    const source = edgeSources[run.source];
    if (source === undefined) continue;
    await eachLine({ ...options, run }, (reader: LineReader) => {
      const own = source.thingOf({ id: readId(reader) });
      if (own === undefined || !isWanted(own)) return;
      const record = parsedLine(reader);
      see(own, record, source.edgesOf(record));
    });
  }
}

function thingOfKind(kind: Thing['kind']): EdgeSource['thingOf'] {
  return (record) =>
    typeof record === 'object' && record !== null && 'id' in record ? thing(kind, record.id) : undefined;
}
