import { growing } from '../../bytes/growing.ts';
import {
  asText,
  createNumberedTexts,
  groupsOf,
  type RowGroup,
  type SourceColumns,
} from '../../model/index.ts';
import type { FileFacts } from '../facts.ts';
import { createCountedValues } from './counted-values.ts';
import { createDistinctTexts } from './distinct-texts.ts';
import { createLargest } from './largest.ts';
import type { ListLimits } from './list-limits.ts';
import { NOT_STATED, shownText, sizeIn, timeIn } from './values.ts';

export type RecordsToList = {
  readonly source: SourceColumns;
  /** How many there are, as the manifests say. */
  readonly records: number;
  readonly limits: ListLimits;
  readonly signal: AbortSignal;
};

/** A file that is listed, or may be. */
type ListedFile = {
  readonly row: number;
  readonly fileset: number;
  readonly size: number | null;
  said: { readonly path: string; readonly fileType: string; readonly created: number | null } | undefined;
};

/** Counts files, and lists them: of very many the largest. */
export async function readFiles({ source, records, limits, signal }: RecordsToList): Promise<FileFacts> {
  const isExpectedWhole = records <= limits.whole;
  const [fileType, indexStatus, filesets] = [createCountedValues(), createCountedValues(), createFilesets()];
  const listed = createLargest<ListedFile>(isExpectedWhole ? limits.whole : limits.top);
  let [total, bytes] = [0, 0];
  for await (const group of groupsOf(source, 'records')) {
    signal.throwIfAborted();
    const filesetOf = await group.texts('_filesetid', (utf8) => filesets.numberOf(asText(utf8)));
    const types = await group.texts('filetype', (utf8) => fileType.numberOf(asText(utf8)));
    const states = await group.texts('indexstatus', (utf8) => indexStatus.numberOf(asText(utf8)));
    const sizes = await group.values('size');
    for (let row = 0; row < group.rows; row += 1) {
      const size = sizeIn(sizes[row]) ?? null;
      const fileset = filesets.add(filesetOf[row], size ?? 0);
      fileType.add(types[row]);
      indexStatus.add(states[row]);
      total += 1;
      bytes += size ?? 0;
      // A whole list takes all, whatever their sizes.
      const rank = isExpectedWhole ? 0 : (size ?? -1);
      if (listed.mayAdd(rank)) listed.add(rank, { row, fileset, size, said: undefined });
    }
    await readSaid(
      group,
      listed.values().filter(({ said }) => said === undefined),
    );
  }
  return {
    total,
    bytes,
    fileType: fileType.counts(),
    indexStatus: indexStatus.counts(),
    filesets: filesets.facts(),
    list: { total, isWhole: isExpectedWhole && total <= limits.whole, columns: columnsOf(listed.values()) },
  };
}

async function readSaid(group: RowGroup, files: readonly ListedFile[]): Promise<void> {
  if (files.length === 0) return;
  const path = await group.texts('path', asText);
  const name = await group.texts('name', asText);
  const fileType = await group.texts('filetype', asText);
  const created = await group.texts('created', asText);
  for (const file of files)
    file.said = {
      path: shownText(path[file.row] || (name[file.row] ?? '')),
      fileType: shownText(fileType[file.row] || NOT_STATED),
      created: timeIn(created[file.row]) ?? null,
    };
}

function columnsOf(files: readonly ListedFile[]): FileFacts['list']['columns'] {
  const { texts, positionOf } = createDistinctTexts();
  return {
    fileset: files.map(({ fileset }) => fileset),
    path: files.map(({ said }) => said?.path ?? ''),
    fileType: files.map(({ said }) => positionOf(said?.fileType ?? NOT_STATED)),
    texts,
    size: files.map(({ size }) => size),
    created: files.map(({ said }) => said?.created ?? null),
  };
}

/** So many FileSets are listed, in the order in which they come; the others as one. */
const MOST_FILESETS = 1_000;

/** Counts files and bytes by FileSet. */
function createFilesets() {
  const ids = createNumberedTexts();
  const [files, bytes] = [growing(Float64Array), growing(Float64Array)];
  const numberOf = (id: string) => ids.numberOf(Buffer.from(id));
  return {
    numberOf,
    add(given: number | null | undefined, size: number): number {
      const at = Math.min(MOST_FILESETS, given ?? numberOf(NOT_STATED));
      while (files.length() <= at) for (const each of [files, bytes]) each.push(0);
      files.set(at, files.at(at) + 1);
      bytes.set(at, bytes.at(at) + size);
      return at;
    },
    facts: () =>
      Array.from({ length: files.length() }, (_, at) => ({
        id: at === MOST_FILESETS ? 'others' : shownText(ids.textOf(at)),
        files: files.at(at),
        bytes: bytes.at(at),
      })),
  };
}
