import { StoredObjectError } from '../../store/index.ts';
import type { Frame } from '../frames/frame.ts';
import { seriesOf } from '../keys.ts';
import type { Part } from '../manifest.ts';

/**
 * Throws `StoredObjectError` unless each of a run's parts lies in this folder, once: a checkpoint or a manifest that
 * names anything else was not written by a run. `folder` ends in a slash.
 */
export function checkPlaces(parts: readonly Part[], folder: string): void {
  const seen = new Set<string>();
  for (const { key } of parts) {
    if (!isPartIn(key, folder)) throw invalid(`${key}: expected a part in ${folder}, got one elsewhere`);
    if (seen.has(key)) throw invalid(`${key}: expected each part once, got it again`);
    seen.add(key);
  }
}

/** The same for published parts, which are of a series. */
export function checkPublished(parts: readonly Part[], folder: string, series: number): void {
  checkPlaces(parts, folder);
  const other = parts.find(({ key }) => seriesOf(key) !== series);
  if (other !== undefined) throw invalid(`${other.key}: expected a part of series ${series}, got another`);
}

/** Throws `StoredObjectError` unless the published parts have as many records as those under `work/`. */
export function checkRecords(work: readonly Part[], published: readonly Part[]): void {
  const [expected, got] = [work, published].map((parts) =>
    parts.reduce((sum, part) => sum + part.records, 0),
  );
  if (expected === got) return;
  const [last] = published.slice(-1);
  throw invalid(`${last?.key ?? 'the published parts'}: expected ${expected} records up to it, got ${got}`);
}

/** Throws `StoredObjectError` unless the frames are all there is in the part. */
export function checkFrames(part: Part, frames: readonly Frame[]): void {
  const sum = (of: (frame: Frame) => number) => frames.reduce((all, frame) => all + of(frame), 0);
  const [bytes, records] = [sum((frame) => frame.bytes), sum((frame) => frame.records)];
  if (bytes === part.bytes && records === part.records) return;
  throw invalid(
    `${part.key}: expected frames of ${part.bytes} bytes and ${part.records} records in all, got ${bytes} and ${records}`,
  );
}

const isPartIn = (key: string, folder: string): boolean =>
  key.startsWith(folder) && !key.slice(folder.length).includes('/') && seriesOf(key) !== undefined;

const invalid = (message: string) => new StoredObjectError('invalid', message);
