import { asText, groupsOf } from '../../model/index.ts';
import { spelled } from '../../model/rules.ts';
import { ISO_TIME } from '../../tables/catalog/view.ts';
import type { DataFileFacts, FileFacts } from '../facts.ts';
import {
  chosenRows,
  columnsOf,
  countedEnum,
  countedText,
  createCountedValues,
  createLargest,
  idText,
  type RecordsToShow,
  recordsOf,
  textsOf,
} from './listed.ts';
import { NOT_STATED, shownText, textIn } from './values.ts';

/** Counts files, and lists them: of very many the largest. */
export async function readFiles(options: RecordsToShow): Promise<FileFacts> {
  const { whole, top } = options.limits;
  const isWhole = recordsOf(options, 'files') <= whole;
  const [fileType, indexStatus] = [createCountedValues(), createCountedValues()];
  const filesets = new Map<string, { id: string; files: number; bytes: number }>();
  const listed = createLargest<FileRow>(isWhole ? whole : top);
  // A whole list takes all, whatever their sizes.
  const rankOf = ({ size }: Pick<FileRow, 'size'>) => (isWhole ? 0 : (size ?? -1));
  let [total, bytes] = [0, 0];
  for await (const { group } of groupsOf(options.columns.files)) {
    options.signal.throwIfAborted();
    const filesetOf = group.texts('_filesetid', countedText);
    const types = group.texts('filetype', countedEnum);
    const states = group.texts('indexstatus', countedEnum);
    const sizes = group.values('size');
    const see = (row: number) => {
      const size = sizeIn(sizes(row));
      const id = filesetOf(row) ?? NOT_STATED;
      const fileset = filesets.get(id) ?? { id, files: 0, bytes: 0 };
      fileset.files += 1;
      fileset.bytes += size ?? 0;
      filesets.set(id, fileset);
      fileType.add(types(row));
      indexStatus.add(states(row));
      total += 1;
      bytes += size ?? 0;
      return listed.mayAdd(rankOf({ size })) ? { fileset: id, size } : undefined;
    };
    for (const file of chosenRows({ group }, see, readFile)) listed.add(rankOf(file), file);
  }
  const rows = listed.values().map(({ path, name, created, ...row }) => ({
    ...{ ...row, path: path || name, created: momentIn(created) },
  }));
  const columns = columnsOf(rows, ['path', 'fileset', 'type', 'status', 'owner', 'size', 'created']);
  return {
    ...{ total, bytes, fileType: fileType.counts(), indexStatus: indexStatus.counts() },
    filesets: [...filesets.values()],
    list: { total, isWhole: isWhole && total <= whole, columns },
  };
}

type FileRow = ReturnType<ReturnType<typeof readFile>> & {
  readonly fileset: string;
  readonly size: number | null;
};

const readFile = textsOf({
  path: ['path', asText],
  name: ['name', asText],
  type: ['filetype', countedEnum, NOT_STATED],
  status: ['indexstatus', countedEnum, NOT_STATED],
  owner: ['createdby', idText],
  created: ['created', asText],
});

const DAY_MS = 86_400_000;

const RANGES = [
  ['under 30 days', 30 * DAY_MS],
  ['30 to 90 days', 90 * DAY_MS],
  ['90 days to a year', 365 * DAY_MS],
  ['over a year', Number.POSITIVE_INFINITY],
] as const;

type DataFileColumns = DataFileFacts['list']['columns'];

/** Counts data files, and lists them: of very many the first. */
export async function readDataFiles(options: RecordsToShow, nowMs: number): Promise<DataFileFacts> {
  const { whole, top } = options.limits;
  const most = recordsOf(options, 'data-files') <= whole ? whole : top;
  const scanState = createCountedValues();
  const ages = new Map<string, number>(
    [...RANGES.map(([name]) => name), NOT_STATED].map((name) => [name, 0]),
  );
  const rows: { [Name in keyof DataFileColumns]: DataFileColumns[Name][number] }[] = [];
  let total = 0;
  for await (const { group } of groupsOf(options.columns['data-files'])) {
    options.signal.throwIfAborted();
    const current = (name: string) => group.values(`currentrevision.${name}`);
    const [states, sizes] = [current('scanstate'), current('sizebytes')];
    const uploads = [current('uploadtimemillis'), current('datetimeuploaded')];
    const times = group.values('datetimecreated_at');
    const see = (row: number) => {
      const state = spelled(textIn(states(row))) ?? NOT_STATED;
      const created = numberIn(times(row));
      const uploaded = uploads.map((at) => numberIn(at(row))).find((ms) => ms !== null);
      const range = rangeOf(uploaded ?? created, nowMs);
      ages.set(range, (ages.get(range) ?? 0) + 1);
      scanState.add(shownText(state));
      total += 1;
      if (total > most) return undefined;
      return { scan: shownText(state), size: sizeIn(sizes(row)), created };
    };
    rows.push(...chosenRows({ group }, see, readDataFile));
  }
  const columns = columnsOf(rows, ['id', 'name', 'scan', 'owner', 'size', 'created']);
  const list = { total, isWhole: total === rows.length, columns };
  return { total, scanState: scanState.counts(), age: [...ages], list };
}

const readDataFile = textsOf({
  id: ['datafileid', asText],
  name: ['name', asText],
  owner: ['responsibleuserid', idText],
});

const numberIn = (value: unknown): number | null => (value == null ? null : Number(value));

const sizeIn = (value: unknown): number | null => {
  const size = numberIn(value);
  return size !== null && size >= 0 ? size : null;
};

const ISO = new RegExp(ISO_TIME);

/** As SQL has it in `created_at`. */
function momentIn(text: string): number | null {
  const [found, , zone] = ISO.exec(text) ?? [];
  return found === undefined ? null : Date.parse(zone === undefined ? `${text}Z` : text) || null;
}

function rangeOf(ms: number | null, nowMs: number): string {
  if (ms === null) return NOT_STATED;
  return RANGES.find(([, below]) => nowMs - ms < below)?.[0] ?? NOT_STATED;
}
