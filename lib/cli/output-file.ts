import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OUTPUT_ENDINGS, type OutputFormat, outputFormat } from '../jobs/texts/output/text-file.ts';
import { errorCode } from '../store/error-code.ts';
import { UsageError } from './usage-error.ts';

/** The format of the file that `--output` names, which is checked before anything else is done. Throws `UsageError`. */
export async function checkedOutputFile(file: string): Promise<OutputFormat> {
  const refuse = (expected: string, got: string) =>
    new UsageError(`--output ${file}: expected ${expected}, got ${got}`);
  const format = outputFormat(file);
  if (format === undefined) throw refuse(`a name that ends in ${OUTPUT_ENDINGS}`, 'another one');
  const there = await stat(file).catch(() => undefined);
  if (there !== undefined && !there.isFile()) throw refuse('a file', 'something else');
  await access(dirname(file), constants.W_OK).catch((error: unknown) => {
    throw refuse('a file in a folder that can be written', errorCode(error) ?? 'unknown');
  });
  return format;
}
