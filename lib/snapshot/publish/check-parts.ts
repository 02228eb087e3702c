import { StoredObjectError } from '../../store/index.ts';
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

const isPartIn = (key: string, folder: string): boolean =>
  key.startsWith(folder) && !key.slice(folder.length).includes('/') && seriesOf(key) !== undefined;

const invalid = (message: string) => new StoredObjectError('invalid', message);
