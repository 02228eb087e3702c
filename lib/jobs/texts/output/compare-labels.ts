import { shortened } from '../../../base/index.ts';
import type { Summary } from '../batch/finish-batch.ts';
import { openRows, printed, type SourceRecord } from '../rows/read-rows.ts';
import { membersOf } from './added-columns.ts';
import { joinedRows, scoresOf, type writeScoredFile } from './scored-file.ts';

export type Labels = {
  /** The column of the labels. */
  readonly column: string;
  /** The topic whose sentiments are compared with the labels; null for the sentiments of whole texts. */
  readonly topic: string | null;
};

/** The values that a label may have. A batch may have further ones, if its platform does. */
const VALUES = ['positive', 'negative', 'neutral', 'not_applicable'];

/** The value of a row that was scored without a sentiment, such as one whose topic the platform left out. */
const NO_VALUE = 'none';

const MAX_NAMED = 20;
const MAX_NAME_LENGTH = 40;

/** A label or value in the form that is compared: `Not applicable` becomes `not_applicable`. */
const spelled = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');

type LabelOptions = Labels &
  Pick<Parameters<typeof writeScoredFile>[1], 'open' | 'rows' | 'store' | 'signal'>;

/** Throws `TextError` for a CSV that lacks the column of the labels. */
export async function checkLabels({ open, rows, column }: Pick<LabelOptions, 'open' | 'rows' | 'column'>) {
  await using _ = await openRows(open(), { ...rows, columns: [column] });
}

/**
 * Compares the scores of a batch with the labels of its source: how many agree, and for each label how many
 * rows got each value (`confusion`). Rows without a label, without a score, or with an unknown label are
 * counted separately. Makes no call. Throws if the source has changed since it was scored.
 */
export async function compareLabels(summary: Summary, options: LabelOptions) {
  const { sentiments } = summary;
  const { column, topic, rows: given } = options;
  const known = topic === null ? sentiments.overall : (sentiments.topics[topic] ?? {});
  const values = new Set([...VALUES, ...Object.keys(known)]);
  const confusion: Record<string, Record<string, number>> = {};
  const counts = { compared: 0, agreed: 0, withoutLabel: 0, withoutScore: 0, otherLabel: 0 };
  const otherLabels = new Set<string>();
  await using source = await openRows(options.open(), given);
  const at = source.format.csv?.names.indexOf(column) ?? -1;
  const labelIn = (record: SourceRecord = '') =>
    typeof record === 'string' ? printed(membersOf(record).get(column) ?? null) : (record[at] ?? '');
  for await (const { record, score } of joinedRows(
    source.rows(),
    scoresOf(summary, options),
    given.skipEmpty,
  )) {
    const text = labelIn(record);
    const label = spelled(text);
    const { sentiment, topicSentiments } = score ?? {};
    const isScored = score !== undefined && score.error === undefined && !score.erased;
    const found = topic === null ? sentiment : new Map(Object.entries(topicSentiments ?? {})).get(topic);
    if (label === '') counts.withoutLabel += 1;
    else if (!values.has(label)) {
      counts.otherLabel += 1;
      if (otherLabels.size < MAX_NAMED) otherLabels.add(shortened(text.trim(), MAX_NAME_LENGTH));
    } else if (!isScored) counts.withoutScore += 1;
    else {
      const value = typeof found === 'string' ? spelled(found) : NO_VALUE;
      counts.compared += 1;
      counts.agreed += value === label ? 1 : 0;
      const ofLabel = confusion[label] ?? {};
      confusion[label] = ofLabel;
      ofLabel[value] = (ofLabel[value] ?? 0) + 1;
    }
  }
  return { column, topic, ...counts, otherLabels: [...otherLabels], confusion };
}

export type ComparedLabels = Awaited<ReturnType<typeof compareLabels>>;
