import { userIdAt } from './people.ts';
import { itemsOf, type Random, randomFor, SEEDED_FROM_MS, SEEDED_UNTIL_MS } from './random.ts';

/** One upload of a data file. Hashes are upper-case hex. */
type Revision = {
  readonly dataFileRevisionId: number;
  readonly dataFileId: number;
  readonly contentType: string;
  readonly uploadUserId: number;
  readonly sizeBytes: number;
  readonly uploadTimeMillis: number;
  readonly md5Hash: string;
  readonly datetimeUploaded: number;
  readonly scanState: string;
  readonly sha256HashValue: string;
};

export type DataFile = {
  readonly dataFileId: number;
  readonly name: string;
  readonly responsibleUserId: number;
  readonly datetimeCreated: number;
  readonly revisions: readonly Revision[];
  readonly existing: boolean;
};

/** The id of data file `index`: ascending, with gaps. */
export function dataFileId(seed: number, index: number): number {
  return 40_001 + index * 29 + randomFor(seed, 'data file id', index).below(29);
}

export function dataFileAt(seed: number, index: number): DataFile {
  const random = randomFor(seed, 'data file', index);
  const id = dataFileId(seed, index);
  const { extension, contentType } = random.pick(KINDS);
  const datetimeCreated =
    SEEDED_FROM_MS + Math.floor(random.next() * (SEEDED_UNTIL_MS - SEEDED_FROM_MS) * 0.8);
  const revisions = Array.from({ length: 1 + random.below(6) }, (_, number) =>
    revisionAt(seed, random, { id, number, contentType, createdMs: datetimeCreated }),
  );
  return {
    dataFileId: id,
    name: `${random.pick(NAMES)}.${extension}`,
    responsibleUserId: userIdAt(seed, random.below(120)),
    datetimeCreated,
    revisions,
    existing: !random.chance(0.04),
  };
}

type RevisionFacts = {
  readonly id: number;
  readonly number: number;
  readonly contentType: string;
  readonly createdMs: number;
};

/** Revision `number` (0 is the first), about a month after the previous one. */
function revisionAt(
  seed: number,
  random: Random,
  { id, number, contentType, createdMs }: RevisionFacts,
): Revision {
  return {
    dataFileRevisionId: id * 100 + number,
    dataFileId: id,
    contentType,
    uploadUserId: userIdAt(seed, random.below(120)),
    sizeBytes: 200 + Math.floor(random.next() ** 4 * 50_000_000),
    uploadTimeMillis: 40 + random.below(9_000),
    md5Hash: random.hex(32).toUpperCase(),
    datetimeUploaded: createdMs + number * 2_592_000_000 + random.below(86_400_000),
    scanState: random.chance(0.95) ? 'SAFE' : 'PENDING',
    sha256HashValue: random.hex(64).toUpperCase(),
  };
}

const NAMES = itemsOf`avatar|q3-forecast|customer list (final)|Kundenliste|logo|budget_2025|export|manual entries|
  región-mapping|請求書|price list|targets`;

const KINDS = [
  { extension: 'csv', contentType: 'text/csv' },
  { extension: 'xlsx', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  { extension: 'png', contentType: 'image/png' },
  { extension: 'pdf', contentType: 'application/pdf' },
  { extension: 'json', contentType: 'application/json' },
] as const;
