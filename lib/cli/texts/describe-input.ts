import type { InputFound } from '../../jobs/texts/rows/input.ts';
import { counted, number } from '../terminal/words.ts';

const FORMATS = { csv: 'CSV', ndjson: 'NDJSON', json: 'a JSON array' } as const;

/** What the source of a batch was found to be, in one line. */
function inputLine({ format, encoding, separator, skipped, repeatedIds }: InputFound): string {
  const by =
    separator === undefined ? '' : `, separated by ${separator === '\t' ? 'tabs' : `"${separator}"`}`;
  const left = skipped === 0 ? '' : `; ${counted(skipped, 'row')} without a text skipped`;
  return `input: ${FORMATS[format]} in ${encoding}${by}${left}${repetitions(repeatedIds)}`;
}

function repetitions(repeatedIds: InputFound['repeatedIds']): string {
  if (repeatedIds === undefined) return '';
  const { rows, compared } = repeatedIds;
  const of = compared === undefined ? '' : ` (only ${number(compared)} ids were compared)`;
  if (rows === 0) return of === '' ? '' : `; no id found twice${of}`;
  return `; ${counted(rows, 'row')} ${rows === 1 ? 'has' : 'have'} the id of an earlier row${of}`;
}

/** The same, with a line for each of the first repeated ids. */
export function describeInput(found: InputFound): readonly string[] {
  const { rows = 0, first = [] } = found.repeatedIds ?? {};
  return [
    inputLine(found),
    ...first.map(
      ({ id, lines: [earlier, line] }) => `  line ${line}: the id ${id} is that of line ${earlier}`,
    ),
    ...(rows > first.length ? [`  and ${number(rows - first.length)} more`] : []),
  ];
}
