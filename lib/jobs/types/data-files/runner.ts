import type { Call } from '../../../platform/call.ts';
import { getDataFile } from '../../../platform/operations/get-data-file.ts';
import { PlatformError } from '../../../platform/platform-error.ts';
import type { RunJob } from '../../turn.ts';
import type { DataFilesJob } from './message.ts';

type Read =
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'missing'; readonly id: string; readonly status: number };

/**
 * Reads the metadata of data files in parallel, within the pace: `{files, missing}`, each file as the platform sent
 * it. Ids that get a 404 or 403 are listed as missing, and do not fail the job.
 */
export function dataFilesRunner(call: Call): RunJob<DataFilesJob> {
  return async ({ ids, expand = [] }, turn) => {
    const query = expand.length === 0 ? {} : { expand: expand.join(',') };
    const stop = new AbortController();
    const { beforeSend, onLeave, share } = turn;
    const options = { signal: AbortSignal.any([turn.signal, stop.signal]), beforeSend, onLeave, share };
    const read = async (id: string): Promise<Read> => {
      try {
        const { text } = await call.raw(getDataFile, { path: { dataFileId: id }, query }, options);
        return { kind: 'file', text: text.trim() };
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
      return {
        status: 'done',
        response: `{"files":[${files.join(',')}],"missing":${JSON.stringify(missing)}}`,
      };
    } finally {
      // After a failure the remaining calls need not be sent.
      stop.abort();
    }
  };
}
