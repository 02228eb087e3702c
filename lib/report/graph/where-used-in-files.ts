import { type Described, describedRecords } from '../../model/index.ts';
import { canonicalId } from '../../model/rules.ts';
import { type Dependent, notDescribed, type Search, type UsedThing } from './used-thing.ts';

/** A thing while what lies in it is found. */
type Found = { -readonly [Name in keyof UsedThing]: UsedThing[Name] } & { readonly dependents: Dependent[] };

/**
 * The FileSets, files and directories with an id or path, and the files in them: nothing else is known to depend on a
 * file. One pass over the runs; memory holds what is listed.
 */
export async function whereUsedInFiles({ id, kind, most, columns }: Search): Promise<readonly UsedThing[]> {
  const [wanted, path] = [canonicalId(id), pathOf(id)];
  const found = new Map<string, Found>();
  function thingAt(key: string, about: Pick<Found, 'kind' | 'id'> & Partial<Found>): Found {
    const thing = found.get(key) ?? { ...notDescribed, ...unused(), inSnapshot: false, ...about };
    found.set(key, thing);
    return thing;
  }
  function add({ id: file, name, type, owner }: Described, thing: Found, of: string): void {
    const total = thing.total + 1;
    Object.assign(thing, { total, links: total, hops: [total], kinds: { file: total } });
    const ways = [{ kind: thing.kind, id: of, name: null, relation: 'lies in', valid: null } as const];
    if (total <= most)
      thing.dependents.push({ hop: 1, kind: 'file', id: file, name, type, owner, ways, waysTotal: 1 });
  }
  for await (const record of recordsIn(columns, 'files')) {
    const { source: _, key: __, ...file } = record;
    const { fileset } = file;
    const own = pathOf(file.name ?? '');
    if (kind !== 'file' && fileset !== null && canonicalId(fileset) === wanted)
      add(record, thingAt('fileset', { kind: 'fileset', id: fileset }), fileset);
    if (kind === 'fileset') continue;
    // A directory need not have a record of its own.
    const directory = { kind: 'file', id: path, name: path, type: 'DIRECTORY', fileset } as const;
    if (own === path) Object.assign(thingAt(`at ${fileset}`, directory), file, { inSnapshot: true });
    else if (file.id === id) thingAt(`id ${fileset}`, { ...file, kind: 'file', inSnapshot: true });
    else if (path !== '' && own.startsWith(`${path}/`))
      add(record, thingAt(`at ${fileset}`, directory), path);
  }
  return [...found.values()];
}

/** The data file with an id: nothing is known to depend on one. */
export async function whereUsedInDataFiles({ id, columns }: Search): Promise<readonly UsedThing[]> {
  const wanted = canonicalId(id);
  for await (const { source: _, key: __, ...file } of recordsIn(columns, 'data-files'))
    if (file.id === wanted) return [{ ...unused(), ...file, kind: 'data-file', inSnapshot: true }];
  return [];
}

async function* recordsIn(columns: Search['columns'], source: 'files' | 'data-files') {
  const of = columns[source];
  for await (const records of describedRecords(of === undefined ? {} : { [source]: of })) yield* records;
}

/** Without slashes at its end; the root is the empty path. */
const pathOf = (path: string): string => path.replace(/\/+$/, '');

const unused = () => ({
  ...{ links: 0, broken: 0, total: 0, hops: [], kinds: {}, isCut: false, fileset: null, dependents: [] },
});
