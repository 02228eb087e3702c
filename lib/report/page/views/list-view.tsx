import { useMemo } from 'preact/hooks';
import type { ReportFacts } from '../../facts.ts';
import { brokenList } from '../lists/broken.tsx';
import { calculationList } from '../lists/calculations.tsx';
import { cardList } from '../lists/cards.tsx';
import { datasetList } from '../lists/datasets.tsx';
import { dataFileList, fileList } from '../lists/files.ts';
import type { List } from '../lists/list.ts';
import { ListTable } from '../lists/list-table.tsx';
import { ownedList } from '../lists/owned.tsx';
import { ownerList } from '../lists/owners.tsx';
import { Empty } from '../parts/empty.tsx';
import type { View } from '../state/hash.ts';
import { type Report, useReport } from '../state/report.ts';
import { viewTitles } from './titles.ts';

type Lister = { readonly listOf: (report: Report) => List | undefined; readonly command: string };

const lister = <F,>(
  find: (facts: ReportFacts) => F | undefined,
  list: (found: F, report: Report) => List,
  command: string,
): Lister => ({
  listOf: (report) => {
    const found = find(report.facts);
    return found === undefined ? undefined : list(found, report);
  },
  command,
});

const listers: Partial<Readonly<Record<View, Lister>>> = {
  broken: {
    listOf: (report) => (report.facts.calculations === undefined ? undefined : brokenList(report)),
    command: 'platform-sync snapshot calculations',
  },
  owners: lister(({ owners }) => owners, ownerList, 'platform-sync snapshot calculations'),
  owned: { listOf: ownedList, command: 'platform-sync snapshot calculations' },
  calculations: lister(
    ({ calculations }) => calculations,
    calculationList,
    'platform-sync snapshot calculations',
  ),
  cards: lister(({ cards }) => cards, cardList, 'platform-sync snapshot cards'),
  datasets: lister(({ datasets }) => datasets, datasetList, 'platform-sync snapshot calculations'),
  files: lister(({ files }) => files, fileList, 'platform-sync snapshot files'),
  'data-files': lister(({ dataFiles }) => dataFiles, dataFileList, 'platform-sync snapshot data-files'),
};

type Props = { readonly view: View; readonly params: Readonly<Record<string, string>> };

/** One of the lists, if the view is one. */
export function ListView({ view, params }: Props) {
  const report = useReport();
  const lister = listers[view];
  const list = useMemo(() => lister?.listOf(report), [lister, report]);
  if (lister === undefined) return null;
  return (
    <div class="view">
      <h2>{viewTitles[view]}</h2>
      {list === undefined ? (
        <Empty command={lister.command}>No snapshot of them was published yet.</Empty>
      ) : list.length === 0 ? (
        <Empty>{list.empty}</Empty>
      ) : (
        <ListTable key={view} view={view} list={list} params={params} />
      )}
    </div>
  );
}
