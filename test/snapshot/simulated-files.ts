import type { Call } from '../../lib/platform/call.ts';
import { respondingCall } from './responding-call.ts';

/** What happens to the files before a response; files are picked by position in the order of paths. */
export type FileChange =
  /** A new file; `isOld`: it was created long ago, and only now enters what is searched. */
  | { readonly kind: 'add'; readonly path: number; readonly isOld: boolean }
  | { readonly kind: 'delete'; readonly at: number }
  | { readonly kind: 'rename'; readonly at: number; readonly path: number }
  /** The file is missing in this one response, as if it were being updated. */
  | { readonly kind: 'vanish'; readonly at: number };

export type SimulatedFiles = {
  /** The paths of the files, as numbers; equal ones are in the order of ids. */
  readonly paths: readonly number[];
  /** Changes before each request, in turn; none once they are used up. */
  readonly changes: readonly (readonly FileChange[])[];
  /** The most files that the platform sends; by request in turn. */
  readonly caps?: readonly number[];
  /** By request in turn: `empty` sends no file and a new cursor, `repeat` begins with the last file again. */
  readonly oddities?: readonly ('none' | 'empty' | 'repeat')[];
  /** How many of the files are new at the start, and in no response before this request. */
  readonly lag?: { readonly files: number; readonly until: number };
  /** True if the platform reports totals. Default true. */
  readonly hasTotals?: boolean;
};

type File = { readonly id: string; readonly path: number; readonly created: string };

/** The start of every scan of simulated files, in epoch milliseconds. */
export const STARTED_MS = Date.parse('2026-11-22T02:00:00Z');

const OLD = '2025-01-01T00:00:00Z';
const NEW = new Date(STARTED_MS).toISOString();

const compare = (a: Pick<File, 'path' | 'id'>, b: Pick<File, 'path' | 'id'>) =>
  a.path - b.path || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const idOf = (number: number) => `file-${String(number).padStart(4, '0')}`;

/** A FileSet in the order of paths that changes while it is read, and that knows which files existed throughout. */
export function simulateFiles(simulated: SimulatedFiles) {
  const { paths, changes, caps = [1_000], oddities = ['none'], lag, hasTotals = true } = simulated;
  const isYoung = (index: number) => lag !== undefined && index >= paths.length - lag.files;
  const first = paths.map(
    (path, index): File => ({ id: idOf(index), path, created: isYoung(index) ? NEW : OLD }),
  );
  const young = new Set(first.filter((_, index) => isYoung(index)).map(({ id }) => id));
  let live: readonly File[] = first.toSorted(compare);
  let added = first.length;
  let requests = 0;

  const apply = (change: FileChange) => {
    if (change.kind === 'add') {
      const file = { id: idOf(added), path: change.path, created: change.isOld ? OLD : NEW };
      live = [...live, file].sort(compare);
      added += 1;
      return;
    }
    const file = live[change.at % Math.max(1, live.length)];
    if (file === undefined || change.kind === 'vanish') return;
    const others = live.filter((each) => each !== file);
    live = change.kind === 'delete' ? others : [...others, { ...file, path: change.path }].sort(compare);
  };

  const respond = (next: string | undefined): string => {
    const due = changes[requests] ?? [];
    for (const change of due) apply(change);
    const vanished = due.flatMap(({ kind, ...change }) =>
      kind === 'vanish' && 'at' in change ? [live[change.at % Math.max(1, live.length)]?.id] : [],
    );
    const cap = caps[requests % caps.length] ?? 1_000;
    const oddity = oddities[requests % oddities.length] ?? 'none';
    const isHidden = ({ id }: File) =>
      vanished.includes(id) || (lag !== undefined && requests < lag.until && young.has(id));
    requests += 1;
    const visible = live.filter((file) => !isHidden(file));
    const [path = -1, id = ''] = next === undefined ? [] : (JSON.parse(next) as [number, string]);
    const from = visible.filter((file) => compare(file, { path, id }) <= 0).length;
    const total = hasTotals ? live.length : undefined;
    if (oddity === 'empty') {
      const cursor = JSON.stringify([path, id, requests]);
      return JSON.stringify({ files: [], pageContext: { next: cursor, total } });
    }
    const rows = visible.slice(oddity === 'repeat' ? Math.max(0, from - 1) : from, from + cap);
    const last = rows.at(-1);
    const isEnd = last === undefined || from + cap >= visible.length;
    const cursor = isEnd ? (next ?? null) : JSON.stringify([last.path, last.id]);
    return JSON.stringify({ files: rows, pageContext: { next: cursor, total } });
  };

  return {
    call: respondingCall(({ query }) => respond(query?.['next'] as string | undefined)) satisfies Call,
    requests: () => requests,
    livedThrough: () => first.filter(({ id }) => live.some((file) => file.id === id)).map(({ id }) => id),
  };
}
