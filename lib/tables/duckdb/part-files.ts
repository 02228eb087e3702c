import PQueue from 'p-queue';
import type { Manifest } from '../../snapshot/manifest.ts';
import type { Columns } from '../../snapshot/sources/source-definition.ts';
import { convertPart } from './convert-part.ts';
import { orReport } from './or-report.ts';
import type { Session } from './session.ts';
import type { DataFile, PreparedPiece } from './table.ts';

/** How many parts are converted at once. */
const AT_ONCE = 2;

/** A run's parts as files of Parquet. */
export function createPartFiles(session: Session, columns: Columns, { parts }: Manifest): PreparedPiece {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  return {
    bytes,
    copiedBytes: bytes,
    load: async () => {
      const queue = new PQueue({ concurrency: AT_ONCE });
      const files = await queue.addAll(parts.map((part) => () => convertedFile(session, columns, part)));
      return files.filter((file) => file !== undefined);
    },
  };
}

/** A part of records as Parquet; undefined, and reported, if it is missing or damaged. */
const convertedFile = (
  session: Session,
  columns: Columns,
  part: Manifest['parts'][number],
): Promise<DataFile | undefined> =>
  session.copies.get(part.key, (path) =>
    orReport(session, convertPart({ store: session.store, part, signal: session.signal }, columns, path)),
  );
