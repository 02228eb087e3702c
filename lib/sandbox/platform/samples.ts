import { quoteColumn } from '../../formula/index.ts';
import type { Sandbox } from './start-platform.ts';

/** Ids of the platform's records, for samples of sources and jobs. */
export const sampleRecords = ({ state: { datasets, fileSets, dataFileIds } }: Sandbox) => ({
  datasetIds: datasets.map(({ id }) => id),
  filesetIds: fileSets.map(({ id }) => id),
  dataFileIds,
});

/** The first calculation, and a formula over its dataset that it may have. */
export function formulaFor(platform: Sandbox) {
  const [row = ''] = platform.calculations();
  const [, calculationId = ''] = /"id":(\d+)/.exec(row) ?? [];
  const dataset = platform.state.datasets.find((each) => row.includes(each.id));
  const column = (type: string) =>
    quoteColumn(dataset?.columns.find((each) => each.type === type)?.name ?? type);
  const expression = `SUM(CASE WHEN ${column('STRING')} IS NULL THEN 0 ELSE ${column('DECIMAL')} END) / COUNT(*)`;
  return { calculationId, expression };
}
