import { userIdAt } from '../records/cards.ts';
import { createLifetimes } from '../records/lifetimes.ts';
import { itemsOf, type Random, randomFor, SEEDED_FROM_MS, SEEDED_UNTIL_MS } from '../records/random.ts';

/** A FileSet and its rows, which can be added, changed and deleted. */
export type FileSet = ReturnType<typeof createFileSet>;

/** Creates a FileSet. Its first `seeded` rows are drawn from the seed and its id, when it is first read. */
export function createFileSet({
  seed,
  id,
  seeded,
  now,
}: {
  readonly seed: number;
  readonly id: string;
  readonly seeded: number;
  readonly now: () => number;
}) {
  const draw = createFileDraw(seed, id);
  const lifetimes = createLifetimes<string>();
  let drawn: Map<string, FileRow> | undefined;
  let list: readonly FileRow[] | undefined;
  let next = seeded;
  let version = 0;

  const byId = () => {
    drawn ??= drawAll(draw, seeded);
    return drawn;
  };
  const countChange = () => {
    version += 1;
    list = undefined;
  };

  return {
    id,
    /** Increases with every change. */
    version: () => version,
    /** All rows, in the order of creation. */
    rows(): readonly FileRow[] {
      list ??= [...byId().values()];
      return list;
    },
    /** Adds a row that is created now. */
    add(): void {
      const rows = byId();
      const row = draw(next, now());
      next += 1;
      rows.set(row.id, row);
      lifetimes.added(row.id, now());
      countChange();
    },
    change(fileId: string, changes: Partial<Omit<FileRow, 'id'>>): void {
      const before = byId().get(fileId);
      if (before === undefined) return;
      byId().set(fileId, { ...before, ...changes });
      countChange();
    },
    delete(fileId: string): void {
      if (!byId().delete(fileId)) return;
      lifetimes.deleted(fileId, now());
      countChange();
    },
    addedAfter: lifetimes.addedAfter,
    /** The ids of the rows that existed from `fromMs` to `toMs`. */
    livedThrough: (fromMs: number, toMs: number): readonly string[] =>
      lifetimes.livedThrough(byId().keys(), fromMs, toMs),
  };
}

function drawAll(draw: ReturnType<typeof createFileDraw>, count: number): Map<string, FileRow> {
  const rows = Array.from({ length: count }, (_, sequence) => draw(sequence));
  return new Map(rows.map((row) => [row.id, row]));
}

/** One row in this many is a directory, beginning with the first row. */
const ROWS_PER_DIRECTORY = 60;

/** Creates the function that draws the rows of one FileSet in the order of creation. Each path occurs once. */
function createFileDraw(seed: number, fileSetId: string): (sequence: number, createdMs?: number) => FileRow {
  const stream = `file of ${fileSetId}`;
  const directories: string[] = [''];
  const parents: string[] = [''];
  const takenPaths = new Set<string>();

  const freePath = (directory: string, stem: string, ending: string) => {
    let path = `${directory}/${stem}${ending}`;
    for (let copy = 2; takenPaths.has(path); copy += 1) path = `${directory}/${stem} (${copy})${ending}`;
    takenPaths.add(path);
    return path;
  };

  const drawDirectory = (random: Random, facts: RowFacts): FileRow => {
    const path = freePath(random.pick(parents), random.pick(DIRECTORIES), '');
    directories.push(path);
    if (path.split('/').length <= MAX_DEPTH) parents.push(path);
    return directoryRow(path, facts);
  };

  return (sequence, createdMs) => {
    const random = randomFor(seed, stream, sequence);
    const facts = {
      fileSetId,
      id: random.uuid(),
      createdMs: createdMs ?? seededMs(random),
      createdBy: userIdAt(seed, random.below(120)),
    };
    if (sequence % ROWS_PER_DIRECTORY === 0) return drawDirectory(random, facts);
    const kind = random.pick(FILE_KINDS);
    const stem = `${random.pick(STEMS)}${random.pick(ENDINGS)}${random.chance(0.6) ? `-${random.below(10_000)}` : ''}`;
    return fileRow(freePath(random.pick(directories), stem, `.${kind.extension}`), kind, random, facts);
  };
}

type RowFacts = {
  readonly fileSetId: string;
  readonly id: string;
  readonly createdMs: number;
  readonly createdBy: number;
};

const MAX_DEPTH = 4;

function seededMs(random: Random): number {
  return SEEDED_FROM_MS + Math.floor(random.next() * (SEEDED_UNTIL_MS - SEEDED_FROM_MS));
}

function directoryRow(path: string, { id, createdMs, createdBy }: RowFacts): FileRow {
  return {
    id,
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    fileType: 'DIRECTORY',
    contentType: null,
    size: null,
    created: new Date(createdMs).toISOString(),
    createdBy,
    hash: null,
    hashAlgorithm: null,
    downloadUrl: null,
    connectorKey: null,
    indexStatus: 'SKIPPED',
    indexReason: null,
  };
}

function fileRow(path: string, kind: (typeof FILE_KINDS)[number], random: Random, facts: RowFacts): FileRow {
  const algorithm = random.pick(HASH_ALGORITHMS);
  const index = random.pick(INDEX_STATES);
  return {
    id: facts.id,
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    fileType: kind.fileType,
    contentType: kind.contentType,
    size: Math.floor(random.next() ** 5 * 2_000_000_000),
    created: new Date(facts.createdMs).toISOString(),
    createdBy: facts.createdBy,
    hash: random.hex(algorithm.digits),
    hashAlgorithm: algorithm.name,
    downloadUrl: `/api/files/v1/filesets/${facts.fileSetId}/files/${facts.id}/download`,
    connectorKey: random.chance(0.1) ? random.pick(['amazon-s3', 'sharepoint-online']) : null,
    indexStatus: index.status,
    indexReason: index.reason,
  };
}

const DIRECTORIES = itemsOf`Finance|Contracts|2023|2024|2025|Q1|Q2|Q3|Q4|Archive|HR|Marketing|Invoices|Verträge|写真|raw|
  Meeting notes|Legal & Compliance|tmp|Übergabe`;

const STEMS = itemsOf`report|invoice|scan|contract|notes|photo|Rechnung|présentation|議事録|call|data|README|
  client's brief|plan 100%|a+b|draft`;

const ENDINGS = ['', '_final', ' v2', '-EMEA', '_2024', ' copy', '.signed'] as const;

const FILE_KINDS = [
  { extension: 'pdf', contentType: 'application/pdf', fileType: 'DOCUMENT' },
  {
    extension: 'docx',
    contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    fileType: 'DOCUMENT',
  },
  { extension: 'txt', contentType: 'text/plain', fileType: 'TEXT' },
  { extension: 'md', contentType: 'text/markdown', fileType: 'TEXT' },
  { extension: 'jpg', contentType: 'image/jpeg', fileType: 'IMAGE' },
  { extension: 'png', contentType: 'image/png', fileType: 'IMAGE' },
  { extension: 'mp4', contentType: 'video/mp4', fileType: 'VIDEO' },
  { extension: 'mp3', contentType: 'audio/mpeg', fileType: 'AUDIO' },
  { extension: 'zip', contentType: 'application/zip', fileType: 'OTHER' },
  { extension: 'bin', contentType: 'application/octet-stream', fileType: 'UNKNOWN' },
] as const;

const HASH_ALGORITHMS = [
  { name: 'SHA_256_HEX', digits: 64 },
  { name: 'SHA_256_HEX', digits: 64 },
  { name: 'SHA_1', digits: 40 },
  { name: 'MD5', digits: 32 },
] as const;

const INDEX_STATES = [
  { status: 'COMPLETED', reason: null },
  { status: 'COMPLETED', reason: null },
  { status: 'COMPLETED', reason: null },
  { status: 'PENDING', reason: null },
  { status: 'QUEUED', reason: null },
  { status: 'IN_PROGRESS', reason: null },
  { status: 'RAG_RECEIVED', reason: null },
  { status: 'SKIPPED', reason: 'File type is not supported' },
  { status: 'FAILED', reason: 'Text could not be extracted' },
] as const;

/** A file or directory of a FileSet, with every field that the platform returns for a file, in its order. */
export type FileRow = {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly fileType: string;
  /** The media type; null for a directory, as are `size`, `hash` and `hashAlgorithm`. */
  readonly contentType: string | null;
  readonly size: number | null;
  /** When it was created: ISO 8601, in UTC. */
  readonly created: string;
  readonly createdBy: number;
  readonly hash: string | null;
  readonly hashAlgorithm: string | null;
  readonly downloadUrl: string | null;
  readonly connectorKey: string | null;
  readonly indexStatus: string;
  readonly indexReason: string | null;
};
