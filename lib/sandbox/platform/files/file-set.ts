import { createLifetimes } from '../records/lifetimes.ts';
import type { FileRow } from './file-row.ts';
import { createFileDraw } from './seeded-files.ts';

/** One FileSet; its rows are drawn when it is first read. */
export type FileSet = {
  readonly id: string;
  version(): number;
  rows(): readonly FileRow[];
  get(fileId: string): FileRow | undefined;
  add(): FileRow;
  change(fileId: string, changes: Partial<Omit<FileRow, 'id'>>): FileRow | undefined;
  delete(fileId: string): boolean;
  addedAfter(fromMs: number): ReadonlySet<string>;
  livedThrough(fromMs: number, toMs: number): readonly string[];
};

export type FileSetOptions = {
  readonly seed: number;
  readonly id: string;
  readonly seeded: number;
  readonly now: () => number;
};

/** A FileSet whose first rows are drawn by its seed and id. */
export function createFileSet({ seed, id, seeded, now }: FileSetOptions): FileSet {
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
  const changed = () => {
    version += 1;
    list = undefined;
  };

  return {
    id,
    version: () => version,
    rows() {
      list ??= [...byId().values()];
      return list;
    },
    get: (fileId) => byId().get(fileId),
    add() {
      const rows = byId();
      const row = draw(next, now());
      next += 1;
      rows.set(row.id, row);
      lifetimes.added(row.id, now());
      changed();
      return row;
    },
    change(fileId, changes) {
      const before = byId().get(fileId);
      if (before === undefined) return undefined;
      byId().set(fileId, { ...before, ...changes });
      changed();
      return byId().get(fileId);
    },
    delete(fileId) {
      if (!byId().delete(fileId)) return false;
      lifetimes.deleted(fileId, now());
      changed();
      return true;
    },
    addedAfter: lifetimes.addedAfter,
    livedThrough: (fromMs, toMs) => lifetimes.livedThrough(byId().keys(), fromMs, toMs),
  };
}

function drawAll(draw: ReturnType<typeof createFileDraw>, count: number): Map<string, FileRow> {
  const rows = Array.from({ length: count }, (_, sequence) => draw(sequence));
  return new Map(rows.map((row) => [row.id, row]));
}
