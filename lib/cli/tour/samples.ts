import { quoteColumn } from '../../formula/index.ts';
import type { PlatformOptions } from '../../sandbox/platform/options.ts';
import type { Dataset } from '../../sandbox/platform/records/datasets.ts';
import { type Sandbox, startPlatform } from '../../sandbox/platform/start-platform.ts';

/** Ids of the platform's records, for samples of sources and jobs. */
export const sampleRecords = ({ state: { datasets, fileSets, dataFileIds } }: Sandbox) => ({
  datasetIds: datasets.map(({ id }) => id),
  filesetIds: fileSets.map(({ id }) => id),
  dataFileIds,
});

/** The first calculation, and a formula over its dataset that it may have. */
export function formulaFor(platform: Sandbox): {
  readonly calculationId: string;
  readonly expression: string;
} {
  const [row = ''] = platform.calculations();
  const [, calculationId = ''] = /"id":(\d+)/.exec(row) ?? [];
  const dataset = platform.state.datasets.find((each) => row.includes(each.id));
  const column = columnOf(dataset);
  return {
    calculationId,
    expression: `SUM(CASE WHEN ${column('STRING')} IS NULL THEN 0 ELSE ${column('DECIMAL')} END) / COUNT(*)`,
  };
}

const columnOf = (dataset: Dataset | undefined) => (type: string) =>
  quoteColumn(dataset?.columns.find((each) => each.type === type)?.name ?? type);

/** The reference platform of the tour. */
export type Instance = AsyncDisposable & {
  readonly platform: Sandbox;
  /** Starts it again at the same address, as if it had changed. */
  restart(options?: PlatformOptions): Promise<void>;
};

/** Starts the platform as it is by default. */
export async function startInstance(): Promise<Instance> {
  let platform = await startPlatform();
  const port = Number(new URL(platform.url).port);
  return {
    get platform() {
      return platform;
    },
    async restart(options = {}) {
      await platform.close();
      platform = await startPlatform({ ...options, port });
    },
    [Symbol.asyncDispose]: () => platform.close(),
  };
}
