import { printJson } from '../../../base/index.ts';
import type { ScoredRow } from '../batch/part.ts';
import type { SourceRecord } from '../rows/read-rows.ts';
import { membersOf } from './csv-output.ts';
import type { JoinedRow } from './joined-rows.ts';
import { errorOf, freeName } from './score-columns.ts';

/**
 * Rows with their scores as NDJSON: each object as it was, with one member more, `score`; `score_2` if the rows have one
 * of that name. A row that is no object has only that member.
 */
export async function* ndjsonOutput(
  rows: AsyncIterable<JoinedRow>,
  { names }: { readonly names: readonly string[] },
): AsyncGenerator<string> {
  const member = JSON.stringify(freeName('score', new Set(names)));
  for await (const { record, score } of rows) {
    const own = objectOf(record, names);
    yield `${own}${own === '{' ? '' : ','}${member}:${score === undefined ? 'null' : printScore(score)}}\n`;
  }
}

/** A JSON object on one line, without the brace that closes it. Its members are as they were sent. */
function objectOf(record: SourceRecord, names: readonly string[]): string {
  switch (record.kind) {
    case 'fields':
      return `{${names.map((name, at) => `${JSON.stringify(name)}:${JSON.stringify(record.fields[at] ?? '')}`).join(',')}`;
    case 'json':
      // JSON has line ends between its values only.
      return membersOf(record.text).size === 0 ? '{' : open(record.text.trim().replaceAll(/[\r\n]+/g, ' '));
    case 'broken':
      return '{';
    default:
      return record satisfies never;
  }
}

const open = (object: string) => object.slice(0, -1).trimEnd();

function printScore(row: ScoredRow): string {
  const { line, sentiment, topicSentiments, model } = row;
  const error = errorOf(row);
  return printJson({ line, sentiment, topicSentiments, model, ...(error === '' ? {} : { error }) });
}
