import type { FileFacts } from '../facts.ts';
import { createCountedValues } from './counted-values.ts';
import { createDistinctTexts } from './distinct-texts.ts';
import { grown } from './hashes/grown.ts';
import { createTextIndex } from './hashes/text-index.ts';
import { createLargest } from './largest.ts';
import type { ListLimits } from './list-limits.ts';
import type { RunRecords } from './run-records.ts';
import { idIn, type Members, NOT_STATED, shownText, sizeIn, textIn, timeIn } from './values.ts';

/** A file as it is listed. */
type ListedFile = {
  readonly fileset: number;
  readonly path: string;
  readonly fileType: string;
  readonly size: number | null;
  readonly created: number | null;
};

/** Reads a run of files: once, and again only where there are very many values of a field. */
export async function readFiles(run: RunRecords, { whole, top }: ListLimits): Promise<FileFacts> {
  const isExpectedWhole = run.manifest.records <= whole;
  const counted = { fileType: createCountedValues(), indexStatus: createCountedValues() };
  const filesets = createFilesets();
  const listed = createLargest<ListedFile>(isExpectedWhole ? whole : top);
  let [total, bytes] = [0, 0];
  await run.read((file) => {
    const size = sizeIn(file['size']);
    const fileset = filesets.add(filesetOf(file), size ?? 0);
    counted.fileType.add(fileTypeOf(file));
    counted.indexStatus.add(indexStatusOf(file));
    total += 1;
    bytes += size ?? 0;
    // A whole list takes all, whatever their sizes.
    const rank = isExpectedWhole ? 0 : (size ?? -1);
    if (listed.mayAdd(rank)) listed.add(rank, listedFile(file, fileset, size));
  });
  const isUnnamed = [counted.fileType.choose(), counted.indexStatus.choose()].includes(true);
  if (isUnnamed)
    await run.read((file) => {
      counted.fileType.name(fileTypeOf(file));
      counted.indexStatus.name(indexStatusOf(file));
    });
  return {
    total,
    bytes,
    fileType: counted.fileType.counts(),
    indexStatus: counted.indexStatus.counts(),
    filesets: filesets.facts(),
    list: { total, isWhole: isExpectedWhole && total <= whole, columns: columnsOf(listed.values()) },
  };
}

const filesetOf = (file: Members): string => idIn(file['_filesetId']) ?? NOT_STATED;
const fileTypeOf = (file: Members): string => textIn(file['fileType']) ?? NOT_STATED;
const indexStatusOf = (file: Members): string => textIn(file['indexStatus']) ?? NOT_STATED;

const listedFile = (file: Members, fileset: number, size: number | undefined): ListedFile => ({
  fileset,
  path: shownText(textIn(file['path']) ?? textIn(file['name']) ?? ''),
  fileType: shownText(fileTypeOf(file)),
  size: size ?? null,
  created: timeIn(file['created']) ?? null,
});

function columnsOf(files: readonly ListedFile[]): FileFacts['list']['columns'] {
  const { texts, positionOf } = createDistinctTexts();
  return {
    fileset: files.map(({ fileset }) => fileset),
    path: files.map(({ path }) => path),
    fileType: files.map(({ fileType }) => positionOf(fileType)),
    texts,
    size: files.map(({ size }) => size),
    created: files.map(({ created }) => created),
  };
}

/** So many FileSets are listed, in the order in which they come; the others as one. */
const MOST_FILESETS = 1_000;

/** Counts files and bytes by FileSet. */
function createFilesets() {
  const index = createTextIndex(MOST_FILESETS);
  let [files, bytes] = [new Float64Array(64), new Float64Array(64)];
  return {
    add(id: string, size: number): number {
      const at = Math.min(MOST_FILESETS, index.add(id));
      [files, bytes] = [grown(files, at), grown(bytes, at)];
      files[at] = (files[at] ?? 0) + 1;
      bytes[at] = (bytes[at] ?? 0) + size;
      return at;
    },
    facts: () =>
      Array.from({ length: Math.min(MOST_FILESETS + 1, index.size()) }, (_, at) => ({
        id: at === MOST_FILESETS ? 'others' : index.textOf(at),
        files: files[at] ?? 0,
        bytes: bytes[at] ?? 0,
      })),
  };
}
