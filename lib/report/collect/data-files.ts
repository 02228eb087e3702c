import type { DataFileFacts } from '../facts.ts';
import { createCountedValues } from './counted-values.ts';
import type { ListLimits } from './list-limits.ts';
import type { RunRecords } from './run-records.ts';
import {
  enumIn,
  idIn,
  listIn,
  type Members,
  membersOf,
  NOT_STATED,
  shownText,
  sizeIn,
  textIn,
  timeIn,
} from './values.ts';

const DAY_MS = 86_400_000;

const RANGES = [
  ['under 30 days', 30 * DAY_MS],
  ['30 to 90 days', 90 * DAY_MS],
  ['90 days to a year', 365 * DAY_MS],
  ['over a year', Number.POSITIVE_INFINITY],
] as const;

/** Reads a run of data files: once, and again only where there are very many values of a field. */
export async function readDataFiles(
  run: RunRecords,
  { whole, top }: ListLimits,
  nowMs: number,
): Promise<DataFileFacts> {
  const [scanState, owners] = [createCountedValues(), createCountedValues()];
  const ages = new Map<string, number>(
    [...RANGES.map(([name]) => name), NOT_STATED].map((name) => [name, 0]),
  );
  const most = run.manifest.records <= whole ? whole : top;
  const columns = {
    id: [] as string[],
    name: [] as string[],
    scanState: [] as string[],
    sizeBytes: [] as (number | null)[],
    created: [] as (number | null)[],
  };
  let total = 0;
  await run.read((file) => {
    const revision = newestRevision(file);
    const state = enumIn(revision['scanState']);
    const created = timeIn(file['datetimeCreated']);
    const range = rangeOf(timeOf(revision) ?? created, nowMs);
    ages.set(range, (ages.get(range) ?? 0) + 1);
    scanState.add(state);
    owners.add(ownerOf(file));
    total += 1;
    if (columns.id.length >= most) return;
    columns.id.push(shownText(idIn(file['dataFileId']) ?? ''));
    columns.name.push(shownText(textIn(file['name']) ?? ''));
    columns.scanState.push(shownText(state));
    columns.sizeBytes.push(sizeIn(revision['sizeBytes']) ?? null);
    columns.created.push(created ?? null);
  });
  if ([scanState.choose(), owners.choose()].includes(true))
    await run.read((file) => {
      scanState.name(enumIn(newestRevision(file)['scanState']));
      owners.name(ownerOf(file));
    });
  const list = { total, isWhole: total === columns.id.length, columns };
  return { total, scanState: scanState.counts(), owners: owners.counts(), age: [...ages], list };
}

const ownerOf = (file: Members): string => idIn(file['responsibleUserId']) ?? NOT_STATED;

const timeOf = (revision: Members): number | undefined =>
  timeIn(revision['uploadTimeMillis']) ?? timeIn(revision['datetimeUploaded']);

/** The current revision, or else the newest of all; no members if none is known. */
function newestRevision({ currentRevision, revisions }: Members): Members {
  const current = membersOf(currentRevision);
  if (Object.keys(current).length > 0) return current;
  let newest: Members = {};
  for (const revision of listIn(revisions).map(membersOf))
    if ((timeOf(revision) ?? -1) >= (timeOf(newest) ?? -1)) newest = revision;
  return newest;
}

function rangeOf(ms: number | undefined, nowMs: number): string {
  if (ms === undefined) return NOT_STATED;
  return RANGES.find(([, below]) => nowMs - ms < below)?.[0] ?? NOT_STATED;
}
