import { type LineReader, readLines } from '../../snapshot/changes/line-reader.ts';
import type { PartToRead } from '../../snapshot/changes/part-chunks.ts';
import { StoredObjectError } from '../../store/stored-json.ts';

export type LinesToRead = PartToRead & {
  /** Receives what is missing or damaged: the rest is read. Default: it is thrown. */
  readonly addFault?: ((fault: string) => void) | undefined;
};

/**
 * Calls `use` at each line of a part. With `addFault`, a line of which `use` throws `StoredObjectError` spoils no other. A
 * part is known to be damaged only at its end, so its lines may have been used.
 */
export async function eachLine(
  { addFault, ...part }: LinesToRead,
  use: (reader: LineReader) => void,
): Promise<void> {
  const { store, signal } = part;
  const reader = readLines({ store, parts: [part.part], signal });
  try {
    for (let next = reader.next(); typeof next === 'boolean' ? next : await next; next = reader.next()) {
      forgiving(addFault, () => use(reader));
      reader.release();
    }
  } catch (error) {
    forgive(addFault, error);
  } finally {
    await reader.close();
  }
}

function forgiving(addFault: LinesToRead['addFault'], use: () => void): void {
  try {
    use();
  } catch (error) {
    forgive(addFault, error);
  }
}

function forgive(addFault: LinesToRead['addFault'], error: unknown): void {
  if (addFault === undefined || !(error instanceof StoredObjectError)) throw error;
  addFault(error.message);
}
