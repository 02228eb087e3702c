import { hashOf, type View } from '../state/hash.ts';
import { useReport } from '../state/report.ts';
import { count } from '../text/numbers.ts';
import { viewTitles } from '../views/titles.ts';

const OVERVIEW = ['health', 'changes', 'where-used', 'batches', 'jobs'] as const;
const LISTS = ['broken', 'owners', 'calculations', 'cards', 'datasets', 'files', 'data-files'] as const;

/** Links to all parts of the page, the lists with how many there are. */
export function Navigation({ view }: { readonly view: View }) {
  const { facts } = useReport();
  const totals: Partial<Record<View, number | undefined>> = {
    broken: facts.calculations?.brokenLinks,
    owners: facts.owners?.total,
    calculations: facts.calculations?.total,
    cards: facts.cards?.total,
    datasets: facts.datasets?.total,
    files: facts.files?.total,
    'data-files': facts.dataFiles?.total,
  };
  const link = (each: View) => (
    <li key={each}>
      <a href={hashOf(each)} aria-current={each === view ? 'page' : undefined}>
        {viewTitles[each]}
        {totals[each] !== undefined && <span class="total">{count(totals[each])}</span>}
      </a>
    </li>
  );
  return (
    <nav aria-label="Parts of the report">
      <ul>{OVERVIEW.map(link)}</ul>
      <h2>Lists</h2>
      <ul>{LISTS.map(link)}</ul>
    </nav>
  );
}
