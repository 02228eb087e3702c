import { type Call, idDigits, PlatformError } from '../../../platform/index.ts';
import { getDataFile } from '../../../platform/operations/get-data-file.ts';
import type { RunJob } from '../../turn.ts';
import type { DataFilesJob } from './message.ts';

type Read =
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'missing'; readonly id: string; readonly status: number }
  | { readonly kind: 'invalid'; readonly fault: string };

/**
 * Reads the metadata of data files in parallel, within the pace: `{files, missing}`, each file as the platform sent
 * it. Ids that get a 404 or 403 are listed as missing, and do not fail the job. A response that is not the metadata of
 * the requested file fails it, with a result that has the others.
 */
export function dataFilesRunner(call: Call): RunJob<DataFilesJob> {
  return async ({ ids, expand = [] }, turn) => {
    const query = expand.length === 0 ? {} : { expand: expand.join(',') };
    const stop = new AbortController();
    const { beforeSend, onLeave, share } = turn;
    const options = { signal: AbortSignal.any([turn.signal, stop.signal]), beforeSend, onLeave, share };
    const read = async (id: string): Promise<Read> => {
      try {
        const { text, json } = await call.raw(getDataFile, { path: { dataFileId: id }, query }, options);
        const fault = faultOf(id, json);
        return fault === undefined ? { kind: 'file', text: text.trim() } : { kind: 'invalid', fault };
      } catch (error) {
        const status =
          error instanceof PlatformError && error.failure.kind === 'status' && error.failure.status;
        if (status === 404 || status === 403) return { kind: 'missing', id, status };
        throw error;
      }
    };
    try {
      const all = await Promise.all(ids.map(read));
      const files = all.flatMap((each) => (each.kind === 'file' ? [each.text] : []));
      const missing = all.flatMap(({ kind, ...each }) => (kind === 'missing' ? [each] : []));
      const response = `{"files":[${files.join(',')}],"missing":${JSON.stringify(missing)}}`;
      const [fault, ...others] = all.flatMap((each) => (each.kind === 'invalid' ? [each.fault] : []));
      if (fault === undefined) return { status: 'done', response };
      const more = others.length === 0 ? '' : `, and ${others.length} more like it`;
      const message = `the response does not match the contract: ${fault}${more}`;
      return { status: 'failed', error: { kind: 'shape', message }, response };
    } finally {
      // After a failure the remaining calls need not be sent.
      stop.abort();
    }
  };
}

/** Why a response is not the metadata of a data file, or undefined if it is. Its other fields are the platform's own. */
function faultOf(id: string, json: unknown): string | undefined {
  const isRecord = typeof json === 'object' && json !== null && !Array.isArray(json);
  if (!isRecord)
    return `data file ${id}: expected an object, got ${Array.isArray(json) ? 'a list' : typeof json}`;
  const got = idDigits(Reflect.get(json, 'dataFileId'));
  return got === id ? undefined : `data file ${id}: dataFileId: expected ${id}, got ${got ?? 'no integer'}`;
}
