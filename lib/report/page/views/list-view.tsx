import { useMemo } from 'preact/hooks';
import { ListTable } from '../lists/list-table.tsx';
import { listOf } from '../lists/lists.tsx';
import { Empty } from '../parts/parts.tsx';
import { type View, viewTitles } from '../state/hash.ts';
import { useReport } from '../state/report.ts';

type Props = { readonly view: View; readonly params: Readonly<Record<string, string>> };

/** One of the lists, if the view is one. */
export function ListView({ view, params }: Props) {
  const report = useReport();
  const found = useMemo(() => listOf(view, report), [view, report]);
  if (found === undefined) return null;
  const { list, command } = found;
  return (
    <div class="view">
      <h2>{viewTitles[view]}</h2>
      {list === undefined ? (
        <Empty command={command}>No snapshot of them was published yet.</Empty>
      ) : list.length === 0 ? (
        <Empty>{list.empty}</Empty>
      ) : (
        <ListTable key={view} view={view} list={list} params={params} />
      )}
    </div>
  );
}
