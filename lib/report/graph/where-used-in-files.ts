import { type Described, describedRecords } from '../../model/index.ts';
import { canonicalId } from '../../model/rules/index.ts';
import { type Dependent, notDescribed, type Search, type UsedThing } from './used-thing.ts';

/** The most files with one path: each FileSet may have one. */
const MOST_FOUND = 100;

/**
 * The FileSets, files and directories with an id or path, and the files in them: nothing else is known to depend on a
 * file. One pass over the runs; memory holds what is listed.
 */
export async function whereUsedInFiles({
  id,
  kind,
  most,
  columns: { files: source },
}: Search): Promise<readonly UsedThing[]> {
  const [wanted, path] = [canonicalId(id), pathOf(id)];
  // By FileSet: what lies in it, and what lies in its directory of that path.
  const [filesets, directories] = [createHolders('fileset', most), createHolders('file', most)];
  const files: { readonly isIt: boolean; readonly record: Described }[] = [];
  for await (const records of describedRecords(source === undefined ? {} : { files: source }))
    for (const record of records) {
      const [own, fileset] = [pathOf(record.name ?? ''), record.fileset ?? ''];
      if (kind !== 'file' && canonicalId(fileset) === wanted) filesets.add(fileset, fileset, record);
      if (kind === 'fileset') continue;
      const isIt = own === path || record.id === id;
      if (isIt && files.length < MOST_FOUND) files.push({ isIt: own === path, record });
      else if (!isIt && path !== '' && own.startsWith(`${path}/`)) directories.add(fileset, path, record);
    }
  const found = files.map(({ isIt, record: { source: _, ...record } }) => ({
    ...(isIt ? directories.take(record.fileset ?? '') : nothingIn),
    ...record,
    kind: 'file' as const,
    inSnapshot: true,
  }));
  // A directory need not have a record of its own.
  const others = directories
    .all()
    .map(([fileset, holder]) => ({ ...holder, name: path, type: 'DIRECTORY', fileset: fileset || null }));
  return [...filesets.all().map(([, holder]) => holder), ...found, ...others];
}

/** The data file with an id: nothing is known to depend on one. */
export async function whereUsedInDataFiles({ id, columns }: Search): Promise<readonly UsedThing[]> {
  const [wanted, source] = [canonicalId(id), columns['data-files']];
  for await (const records of describedRecords(source === undefined ? {} : { 'data-files': source })) {
    const found = records.find((record) => record.id === wanted);
    if (found === undefined) continue;
    const { source: _, ...record } = found;
    return [{ ...nothingIn, ...record, kind: 'data-file', inSnapshot: true }];
  }
  return [];
}

/** Without slashes at its end; the root is the empty path. */
const pathOf = (path: string): string => path.replace(/\/+$/, '');

const nothingIn = { links: 0, broken: 0, total: 0, hops: [], kinds: {}, isCut: false, dependents: [] };

/** What holds files, by FileSet: all are counted, and the first are listed. */
function createHolders(kind: 'fileset' | 'file', most: number) {
  const totals = new Map<string, { total: number; readonly id: string; readonly dependents: Dependent[] }>();
  const holding = (fileset: string): UsedThing => {
    const { total = 0, id = '', dependents = [] } = totals.get(fileset) ?? {};
    const contents = total === 0 ? {} : { links: total, total, hops: [total], kinds: { file: total } };
    const known = { ...notDescribed, fileset: null, inSnapshot: false };
    return { ...nothingIn, ...known, kind, id, ...contents, dependents };
  };
  return {
    add(fileset: string, id: string, { source: _, fileset: __, ...record }: Described): void {
      const held = totals.get(fileset) ?? { total: 0, id, dependents: [] };
      totals.set(fileset, held);
      held.total += 1;
      const ways = [{ kind, id, name: null, relation: 'lies in', valid: null } as const];
      if (held.dependents.length < most)
        held.dependents.push({ hop: 1, kind: 'file', ...record, ways, waysTotal: 1 });
    },
    /** One of them, which is not among all then. */
    take(fileset: string): UsedThing {
      const taken = holding(fileset);
      totals.delete(fileset);
      return taken;
    },
    all: () => [...totals.keys()].map((fileset) => [fileset, holding(fileset)] as const),
  };
}
