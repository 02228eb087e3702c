import { asText, groupsOf } from '../../model/index.ts';
import type { DataFileFacts } from '../facts.ts';
import { createCountedValues } from './counted-values.ts';
import type { RecordsToList } from './files.ts';
import { enumIn, listIn, type Members, membersOf, NOT_STATED, shownText, sizeIn, timeIn } from './values.ts';

const DAY_MS = 86_400_000;

const RANGES = [
  ['under 30 days', 30 * DAY_MS],
  ['30 to 90 days', 90 * DAY_MS],
  ['90 days to a year', 365 * DAY_MS],
  ['over a year', Number.POSITIVE_INFINITY],
] as const;

/** Counts data files, and lists them: of very many the first. */
export async function readDataFiles(
  { source, records, limits, signal }: RecordsToList,
  nowMs: number,
): Promise<DataFileFacts> {
  const scanState = createCountedValues();
  const ages = new Map<string, number>(
    [...RANGES.map(([name]) => name), NOT_STATED].map((name) => [name, 0]),
  );
  const most = records <= limits.whole ? limits.whole : limits.top;
  const columns = {
    id: [] as string[],
    name: [] as string[],
    scanState: [] as string[],
    sizeBytes: [] as (number | null)[],
    created: [] as (number | null)[],
  };
  let total = 0;
  for await (const group of groupsOf(source, 'records')) {
    signal.throwIfAborted();
    const id = await group.texts('datafileid', asText);
    const name = await group.texts('name', asText);
    const current = await group.values('currentrevision');
    const revisions = await group.values('revisions');
    const times = await group.values('datetimecreated');
    for (let row = 0; row < group.rows; row += 1) {
      const revision = newestRevision(current[row], revisions[row]);
      const state = enumIn(revision['scanstate']);
      const created = timeIn(times[row]);
      const range = rangeOf(timeOf(revision) ?? created, nowMs);
      ages.set(range, (ages.get(range) ?? 0) + 1);
      scanState.add(scanState.numberOf(state));
      total += 1;
      if (columns.id.length >= most) continue;
      columns.id.push(shownText(id[row] ?? ''));
      columns.name.push(shownText(name[row] ?? ''));
      columns.scanState.push(shownText(state));
      columns.sizeBytes.push(sizeIn(revision['sizebytes']) ?? null);
      columns.created.push(created ?? null);
    }
  }
  const list = { total, isWhole: total === columns.id.length, columns };
  return { total, scanState: scanState.counts(), age: [...ages], list };
}

const timeOf = (revision: Members): number | undefined =>
  timeIn(revision['uploadtimemillis']) ?? timeIn(revision['datetimeuploaded']);

/** The current revision, or else the newest of all; no members if none is known. */
function newestRevision(current: unknown, revisions: unknown): Members {
  const members = membersOf(current);
  if (Object.values(members).some((value) => value != null)) return members;
  let newest: Members = {};
  for (const revision of listIn(revisions).map(membersOf))
    if ((timeOf(revision) ?? -1) >= (timeOf(newest) ?? -1)) newest = revision;
  return newest;
}

function rangeOf(ms: number | undefined, nowMs: number): string {
  if (ms === undefined) return NOT_STATED;
  return RANGES.find(([, below]) => nowMs - ms < below)?.[0] ?? NOT_STATED;
}
