import type { Call } from '../../../platform/call.ts';
import { type FileSearch, searchFiles } from '../../../platform/operations/search-files.ts';
import { membersOf, scannedRecord, shapeError } from '../../page/record-line.ts';
import type { ScannedRecord } from '../../page/scanned-record.ts';
import { sliceRecords } from '../../page/slice-records.ts';

/** One page of a FileSet's files. */
export type ScannedFilePage = {
  readonly records: readonly ScannedRecord[];
  /** The cursor sent with the page; null if there is none. */
  readonly next: string | null;
  /** The total number of files as reported by the platform; null if it does not report it. */
  readonly total: number | null;
};

/** Reads the page after the cursor `next`; null means the first page. */
export type ReadFilePage = (request: {
  readonly filesetId: string;
  readonly next: string | null;
  readonly signal?: AbortSignal | undefined;
}) => Promise<ScannedFilePage>;

/** Reads pages of files. Their records are the text as sent by the platform, with `_filesetId` added at the start. */
export function filePageReader(call: Call, search: FileSearch): ReadFilePage {
  const { directoryPath, immediateChildren, limit, ...body } = search;
  return async ({ filesetId, next, signal }) => {
    const query = { directoryPath, immediateChildren, limit, next: next ?? undefined };
    const { text, json } = await call.raw(searchFiles, { path: { filesetId }, query, body }, { signal });
    const { values, context } = pageOf(json, filesetId);
    const sources = sliceRecords(text, 'files');
    const total = context['total'];
    return {
      records: values.map((value, at) => fileRecord(value, { filesetId, at, source: sources[at] })),
      next: cursorOf(context, filesetId),
      total: typeof total === 'number' ? total : null,
    };
  };
}

/** A response with neither files nor a page context is not a page: it must not be taken for the end of a list. */
function pageOf(json: unknown, filesetId: string) {
  const { files = null, pageContext = null } = membersOf(json);
  if (Array.isArray(files)) return { values: files as readonly unknown[], context: membersOf(pageContext) };
  if (files === null && pageContext !== null) return { values: [], context: membersOf(pageContext) };
  throw shapeOf(filesetId, 'files: expected an array');
}

function cursorOf({ next = null }: Readonly<Record<string, unknown>>, filesetId: string): string | null {
  if (next === null || next === '') return null;
  if (typeof next !== 'string') throw shapeOf(filesetId, 'pageContext.next: expected text or null');
  return next;
}

type Sent = { readonly filesetId: string; readonly at: number; readonly source: string | undefined };

function fileRecord(value: unknown, { filesetId, at, source }: Sent): ScannedRecord {
  const { id, path } = membersOf(value);
  if (typeof id !== 'string' || id === '') {
    const named = typeof path === 'string' ? ` (${path.slice(0, 200)})` : '';
    throw shapeOf(filesetId, `file ${at} of the page${named}: expected an object with text as its id`);
  }
  const first = { name: '_filesetId', text: filesetId };
  return scannedRecord({ key: `${filesetId}/${id}`, value: membersOf(value), source, first });
}

const shapeOf = (filesetId: string, fault: string) =>
  shapeError(searchFiles.name, `files of FileSet ${filesetId}`, fault);
