import type { Call } from '../../lib/platform/call.ts';
import type { EndpointInput } from '../../lib/platform/endpoint.ts';
import { respondingCall, statusError } from './responding-call.ts';

/** A change of the files before a response. `at` picks a file by position in the order of paths. */
export type FileChange =
  /** A new file. `isOld`: it was created long ago, and only now matches the search. */
  | { readonly kind: 'add'; readonly path: number; readonly isOld: boolean }
  | { readonly kind: 'delete'; readonly at: number }
  | { readonly kind: 'rename'; readonly at: number; readonly path: number }
  /** The file is missing in this response only, as if it were being updated. */
  | { readonly kind: 'vanish'; readonly at: number };

export type SimulatedFiles = {
  /** The paths of the files, as numbers. Files with equal paths are in the order of ids. */
  readonly paths: readonly number[];
  /** The changes before each request in turn; none after the last entry. */
  readonly changes: readonly (readonly FileChange[])[];
  /** Maximum number of files in a response, by request; repeated from the start. */
  readonly caps?: readonly number[];
  /** By request, repeated: `empty` sends no file and a new cursor, `repeat` begins with the last file again. */
  readonly oddities?: readonly ('none' | 'empty' | 'repeat')[];
  /** The last `files` of `paths` are new, and appear in no response before request `until`. */
  readonly lag?: { readonly files: number; readonly until: number };
  /** True if the platform reports totals. Default: true. */
  readonly hasTotals?: boolean;
  /** How the platform treats a requested order; `ignores` sorts by path, `refuses` is a 400. Default: `ignores`. */
  readonly order?: 'ignores' | 'sorts' | 'refuses';
  /** The number of files that share a time of creation. Default: all. */
  readonly ties?: number;
};

type File = { readonly id: string; readonly path: number; readonly created: string };
type Sort = { readonly field: 'created' | 'path'; readonly sign: 1 | -1 };

/** A time of creation in the past, later for a higher number. */
const timeOf = (seconds: number) =>
  new Date(Date.parse('2025-01-01T00:00:00Z') + 1_000 * seconds).toISOString();
const NEW = '2026-11-22T02:00:00.000Z';

const sign = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);

const comparing =
  ({ field, sign: direction }: Sort) =>
  (a: Pick<File, 'id' | Sort['field']>, b: Pick<File, 'id' | Sort['field']>) =>
    direction * (sign(a[field], b[field]) || sign(a.id, b.id));

/** Changes pick files in the order of paths. */
const byPath = comparing({ field: 'path', sign: 1 });

const idOf = (number: number) => `file-${String(number).padStart(4, '0')}`;

/** A FileSet that changes while it is read, and reports which files existed throughout. */
export function simulateFiles(simulated: SimulatedFiles) {
  const { paths, changes, caps = [1_000], oddities = ['none'], lag, hasTotals = true } = simulated;
  const { order = 'ignores', ties = Number.POSITIVE_INFINITY } = simulated;
  const isYoung = (index: number) => lag !== undefined && index >= paths.length - lag.files;
  const first = paths.map(
    (path, index): File => ({
      id: idOf(index),
      path,
      created: isYoung(index) ? NEW : timeOf(Math.floor(index / ties)),
    }),
  );
  const young = new Set(first.filter((_, index) => isYoung(index)).map(({ id }) => id));
  let live: readonly File[] = first.toSorted(byPath);
  let added = first.length;
  let requests = 0;

  const apply = (change: FileChange) => {
    if (change.kind === 'add') {
      const created = change.isOld ? timeOf(change.path) : NEW;
      live = [...live, { id: idOf(added), path: change.path, created }].sort(byPath);
      added += 1;
      return;
    }
    const file = live[change.at % Math.max(1, live.length)];
    if (file === undefined || change.kind === 'vanish') return;
    const others = live.filter((each) => each !== file);
    live = change.kind === 'delete' ? others : [...others, { ...file, path: change.path }].sort(byPath);
  };

  const respond = ({ query, body }: EndpointInput): string => {
    const { fieldSort } = (body ?? {}) as { readonly fieldSort?: readonly { readonly order: string }[] };
    if (order === 'refuses' && fieldSort !== undefined) throw statusError(400);
    const sort: Sort =
      order === 'sorts' && fieldSort !== undefined
        ? { field: 'created', sign: fieldSort[0]?.order === 'DESC' ? -1 : 1 }
        : { field: 'path', sign: 1 };
    const compare = comparing(sort);
    const next = query?.['next'] as string | undefined;
    const due = changes[requests] ?? [];
    for (const change of due) apply(change);
    const vanished = due.flatMap(({ kind, ...change }) =>
      kind === 'vanish' && 'at' in change ? [live[change.at % Math.max(1, live.length)]?.id] : [],
    );
    const cap = Math.min(caps[requests % caps.length] ?? 1_000, Number(query?.['limit'] ?? 1_000));
    const oddity = oddities[requests % oddities.length] ?? 'none';
    const isHidden = ({ id }: File) =>
      vanished.includes(id) || (lag !== undefined && requests < lag.until && young.has(id));
    requests += 1;
    const visible = live.filter((file) => !isHidden(file)).sort(compare);
    const after = next === undefined ? undefined : (JSON.parse(next) as File);
    const from = after === undefined ? 0 : visible.filter((file) => compare(file, after) <= 0).length;
    const total = hasTotals ? live.length : undefined;
    if (oddity === 'empty') {
      const cursor = JSON.stringify({ path: -1, created: '', id: '', ...after, requests });
      return JSON.stringify({ files: [], pageContext: { next: cursor, total } });
    }
    const rows = visible.slice(oddity === 'repeat' ? Math.max(0, from - 1) : from, from + cap);
    const last = rows.at(-1);
    const isEnd = last === undefined || from + cap >= visible.length;
    const cursor = isEnd ? (next ?? null) : JSON.stringify(last);
    return JSON.stringify({ files: rows, pageContext: { next: cursor, total } });
  };

  return {
    call: respondingCall(respond) satisfies Call,
    requests: () => requests,
    livedThrough: () => first.filter(({ id }) => live.some((file) => file.id === id)).map(({ id }) => id),
  };
}
