import type { ComponentType } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ReportFacts } from '../facts.ts';
import { ListTable } from './lists/list-table.tsx';
import { listOf } from './lists/lists.tsx';
import { Empty } from './parts/parts.tsx';
import { hashOf, useShown, type View, viewTitles } from './state/hash.ts';
import { createReport, ReportContext, totalsOf, useReport } from './state/report.ts';
import { age, count, counted, time } from './text/numbers.ts';
import { Text } from './text/text.tsx';
import { BatchesView } from './views/batches.tsx';
import { ChangesView } from './views/changes.tsx';
import { HealthView } from './views/health.tsx';
import { JobsView } from './views/jobs.tsx';
import { WhereUsedView } from './views/where-used.tsx';

type Shown = ReturnType<typeof useShown>;

/** The views that are not a single list. */
const overview = {
  health: HealthView,
  changes: ChangesView,
  'where-used': WhereUsedView,
  batches: BatchesView,
  jobs: JobsView,
} as const satisfies Partial<Record<View, ComponentType<Pick<Shown, 'params'>>>>;

const OVERVIEW_VIEWS = Object.keys(overview) as (keyof typeof overview)[];

/** The page: header, navigation and one view. Printing prints only this view. */
export function App({ facts }: { readonly facts: ReportFacts }) {
  const report = useMemo(() => createReport(facts), [facts]);
  const shown = useShown();
  const main = useRef<HTMLElement>(null);
  useTitle(shown.view, main);
  const Part: ComponentType<Pick<Shown, 'params'>> | undefined = Object.entries(overview).find(
    ([view]) => view === shown.view,
  )?.[1];
  return (
    <ReportContext.Provider value={report}>
      {/* biome-ignore lint/a11y/useValidAnchor: it skips to the content without changing the address */}
      <a class="skip" href="#content" onClick={(event) => skipTo(event, main.current)}>
        Skip to the content
      </a>
      <Header facts={facts} />
      <div class="columns">
        <Navigation view={shown.view} facts={facts} />
        <main id="content" ref={main} tabIndex={-1}>
          {Part === undefined ? (
            <ListView {...shown} />
          ) : (
            <div class="view">
              <Part params={shown.params} />
            </div>
          )}
        </main>
      </div>
    </ReportContext.Provider>
  );
}

/** The list that a view consists of; nothing for a view that is not a list. */
function ListView({ view, params }: Shown) {
  const report = useReport();
  const found = useMemo(() => listOf(view, report), [view, report]);
  if (found === undefined) return null;
  const { list, command } = found;
  return (
    <div class="view">
      <h2>{viewTitles[view]}</h2>
      {list === undefined ? (
        <Empty command={command}>No snapshot of these has been published yet.</Empty>
      ) : list.ids.length === 0 ? (
        <Empty>{list.empty ?? `The last snapshot has no ${list.one}.`}</Empty>
      ) : (
        <ListTable key={view} view={view} list={list} params={params} />
      )}
    </div>
  );
}

function Header({ facts }: { readonly facts: ReportFacts }) {
  const newest = Math.max(0, ...facts.snapshots.map(({ finishedAt }) => finishedAt));
  return (
    <header class="top">
      <div class="top-names">
        <h1>Platform report</h1>
        <p>
          {facts.platform !== undefined && (
            <>
              <Text of={facts.platform} />
              {' · '}
            </>
          )}
          {counted(facts.snapshots.length, 'snapshot')}
          {newest > 0 &&
            `, the newest ${age(newest, facts.writtenAt)} before ${facts.isPast ? 'then' : 'this report'}`}
        </p>
      </div>
      <p class="top-written">
        {facts.isPast ? 'As of' : 'Written'}{' '}
        <time dateTime={new Date(facts.writtenAt).toISOString()}>{time(facts.writtenAt)}</time>
      </p>
    </header>
  );
}

/** Links to all views; lists show the number of their entries. */
function Navigation({ view, facts }: { readonly view: View; readonly facts: ReportFacts }) {
  const totals: Partial<Record<View, number | undefined>> = {
    broken: facts.calculations?.brokenLinks,
    ...totalsOf(facts),
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
      <ul>{OVERVIEW_VIEWS.map(link)}</ul>
      <h2>Lists</h2>
      <ul>{(Object.keys(totals) as View[]).map(link)}</ul>
    </nav>
  );
}

/** Sets the document's title to the view's title. When the view changes, moves the focus to it. */
function useTitle(view: View, main: { readonly current: HTMLElement | null }): void {
  const last = useRef(view);
  useEffect(() => {
    document.title = `${viewTitles[view]} · Platform report`;
    if (last.current === view) return;
    last.current = view;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [view]);
}

function skipTo(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}
