import { eachLineOf, type RunsToRead, runsOf } from '../../model/index.ts';
import { idDigits } from '../../platform/id.ts';
import { parsedLine } from '../../snapshot/changes/parsed-line.ts';
import { describe, memberOf, notDescribed } from './describe.ts';
import type { Hints } from './hints.ts';
import type { Dependent, FindableKind, UsedThing } from './used-thing.ts';

export type InFilesOptions = RunsToRead & {
  readonly id: string;
  readonly kind: FindableKind | undefined;
  /** The most dependents to list of each thing. */
  readonly most: number;
  readonly hints: Hints;
};

/** The most files with one path: each FileSet may have one. */
const MOST_FOUND = 100;

/**
 * The FileSets, files and directories with an id or path, and the files in them: nothing else is known to depend on a
 * file. One pass over the runs; memory holds what is listed.
 */
export async function whereUsedInFiles(options: InFilesOptions): Promise<readonly UsedThing[]> {
  const { id, kind, most, hints } = options;
  const found = createFound(id, most);
  await eachLineOf(runsOf(options, 'files'), (reader) => {
    const record = parsedLine(reader);
    const file = fileOf(record);
    if (file === undefined) return;
    if (kind !== 'file') found.addToFileset(file, record);
    if (kind !== 'fileset') found.addFile(file, record);
    hints.see({ kind: 'file', id: file.id }, record);
    if (file.fileset !== '') hints.see({ kind: 'fileset', id: file.fileset });
  });
  return found.all();
}

/** The data files with an id; nothing is known to depend on one. */
export async function whereUsedInDataFiles(options: InFilesOptions): Promise<readonly UsedThing[]> {
  const { id, hints } = options;
  const found = new Map<string, UsedThing>();
  const wanted = idDigits(id);
  await eachLineOf(runsOf(options, 'data-files'), (reader) => {
    const record = parsedLine(reader);
    const own = idDigits(memberOf(record, 'dataFileId'));
    if (own === undefined) return;
    if (own === wanted)
      found.set(own, { ...nothingIn('data-file', own), ...describe('data-file', record), inSnapshot: true });
    hints.see({ kind: 'data-file', id: own }, record);
  });
  return [...found.values()];
}

type File = { readonly id: string; readonly path: string; readonly fileset: string };

function fileOf(record: unknown): File | undefined {
  const at = (name: string) => {
    const value = memberOf(record, name);
    return typeof value === 'string' ? value : '';
  };
  const file = { id: at('id'), path: at('path'), fileset: at('_filesetId') };
  return file.id === '' ? undefined : file;
}

/** Collects what has the id or path that was asked for, as the files come in any order. */
function createFound(id: string, most: number) {
  const path = pathOf(id);
  const filesets = new Map<string, Contents>();
  const directories = new Map<string, Contents>();
  const files = new Map<string, UsedThing & { readonly path: string }>();
  return {
    addToFileset(file: File, record: unknown): void {
      if (file.fileset === '' || file.fileset.toLowerCase() !== id.toLowerCase()) return;
      addTo(filesets, file.fileset, file, { record, most, holder: { kind: 'fileset', id: file.fileset } });
    },
    addFile(file: File, record: unknown): void {
      const own = pathOf(file.path);
      const isIt = own === path || file.id === id;
      if (isIt && files.size < MOST_FOUND) {
        const described = { ...describe('file', record), inSnapshot: true, fileset: file.fileset || null };
        files.set(`${file.fileset}/${file.id}`, { ...nothingIn('file', file.id), ...described, path: own });
      } else if (!isIt && path !== '' && own.startsWith(`${path}/`)) {
        const holder = { kind: 'file', id: path } as const;
        addTo(directories, file.fileset, file, { record, most, holder });
      }
    },
    all(): readonly UsedThing[] {
      const sets = [...filesets].map(([fileset, contents]) =>
        holding(nothingIn('fileset', fileset), contents),
      );
      const paths = [...files.values()].map(({ path: own, ...file }) => {
        const contents = own === path ? directories.get(file.fileset ?? '') : undefined;
        if (contents !== undefined) directories.delete(file.fileset ?? '');
        return contents === undefined ? file : holding(file, contents);
      });
      // A directory need not have a record of its own.
      const others = [...directories].map(([fileset, contents]) =>
        holding(
          { ...nothingIn('file', path), name: path, type: 'DIRECTORY', fileset: fileset || null },
          contents,
        ),
      );
      return [...sets, ...paths, ...others];
    },
  };
}

/** Without slashes at its end; the root is the empty path. */
const pathOf = (path: string): string => path.replace(/\/+$/, '');

type Contents = { total: number; readonly listed: Dependent[] };

type Holding = {
  readonly record: unknown;
  readonly most: number;
  readonly holder: { readonly kind: 'fileset' | 'file'; readonly id: string };
};

function addTo(
  all: Map<string, Contents>,
  fileset: string,
  { id }: File,
  { record, most, holder }: Holding,
): void {
  const contents = all.get(fileset) ?? { total: 0, listed: [] };
  all.set(fileset, contents);
  contents.total += 1;
  if (contents.listed.length >= most) return;
  const ways = [{ ...holder, relation: 'lies in', valid: null } as const];
  contents.listed.push({ hop: 1, kind: 'file', id, ...describe('file', record), ways, waysTotal: 1 });
}

function nothingIn(kind: FindableKind, id: string): UsedThing {
  const nothing = { links: 0, broken: 0, fileset: null, total: 0, hops: [], kinds: {}, isCut: false };
  return { kind, id, ...notDescribed, inSnapshot: false, ...nothing, dependents: [] };
}

const holding = (thing: UsedThing, { total, listed }: Contents): UsedThing => ({
  ...thing,
  links: total,
  total,
  hops: [total],
  kinds: { file: total },
  dependents: listed,
});
