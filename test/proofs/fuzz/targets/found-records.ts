import type { Call } from '../../../../lib/platform/call.ts';
import type { Endpoint, EndpointInput } from '../../../../lib/platform/endpoint.ts';
import type { RecordBatch, typesSeen } from '../../../../lib/snapshot/page/record-fields.ts';
import { rowsBetween } from '../../../../lib/snapshot/page/record-index.ts';
import { cardsIn } from '../../../../lib/snapshot/sources/cards/scan.ts';
import { dataFilesScan } from '../../../../lib/snapshot/sources/data-files/scan.ts';
import { filePageReader } from '../../../../lib/snapshot/sources/files/fileset-read.ts';
import { recordsIn } from '../../../snapshot/batches.ts';
import { UUID } from './response-inputs.ts';

type FieldTypes = ReturnType<typeof typesSeen>;

/* The snapshot readers, which find records in the bytes of a response without parsing it. */

/** What a reader found, as it is written into a part. */
export type Found = {
  readonly keys: readonly string[];
  readonly lines: readonly string[];
  /** The elements without an id, as messages name them. */
  readonly unnamed?: readonly string[] | undefined;
  readonly fields: FieldTypes;
  /** The cursor of the next page, which only pages of files have. */
  readonly next?: string | null;
  readonly total?: number | null;
};

export type FoundIn = 'listCards' | 'searchFiles' | 'getDataFile';

/** The id of the requested data file. */
export const DATA_FILE = '12';

type Limited = (endpoint: Endpoint<EndpointInput, unknown>) => Endpoint<EndpointInput, unknown>;

/** Reads one response through the client, as a snapshot does. Rethrows errors of the client. */
export const foundIn: Readonly<
  Record<FoundIn, (call: Call, asked: Parameters<Limited>[0], input: EndpointInput) => Promise<Found>>
> = {
  listCards: (call, endpoint, input) => call.read(endpoint, input, (bytes) => foundOf(cardsIn(bytes, UUID))),
  async searchFiles(call) {
    const page = await filePageReader(call, {})({ filesetId: UUID, next: null });
    const found = foundOf(page.batchOf(rowsBetween(0, page.files)));
    return { ...found, next: page.next, total: page.total };
  },
  async getDataFile(call) {
    const scan = dataFilesScan({ call, ids: [DATA_FILE] });
    const steps = scan({ from: undefined, readBackKeys: () => noKeys() });
    const { value } = await steps.next();
    if (value === undefined || !('batch' in value)) throw new Error('expected a step');
    const found = foundOf(value.batch);
    await steps.next();
    return found;
  },
};

async function* noKeys(): AsyncGenerator<readonly string[]> {}

/** Copies the records immediately, since their memory is freed afterwards. */
const foundOf = (batch: RecordBatch): Found => ({
  ...recordsIn(batch),
  unnamed: batch.unnamed,
  fields: batch.fields,
});
