import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OUTPUT_ENDINGS, type OutputFormat, outputFormat } from '../../jobs/texts/output/text-file.ts';
import { errorCode } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';

/** The format of the file that `--output` names, which is checked before anything else is done. Throws `UsageError`. */
export async function checkedOutputFile(file: string): Promise<OutputFormat> {
  const format = outputFormat(file);
  if (format === undefined) throw refused(file, `a name that ends in ${OUTPUT_ENDINGS}`, 'another one');
  await checkWritable(file);
  return format;
}

/** Throws `UsageError` unless `--output` names a file that can be written, whether it is there or not. */
export async function checkWritable(file: string): Promise<void> {
  const there = await stat(file).catch(() => undefined);
  if (there !== undefined && !there.isFile()) throw refused(file, 'a file', 'something else');
  await access(dirname(file), constants.W_OK).catch((error: unknown) => {
    throw refused(file, 'a file in a folder that can be written', errorCode(error) ?? 'unknown');
  });
}

const refused = (file: string, expected: string, got: string) =>
  new UsageError(`--output ${file}: expected ${expected}, got ${got}`);
