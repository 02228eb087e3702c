import { brokenFlags, flagsOf } from '../../../model/flags.ts';
import type { Counts, ReportFacts } from '../../facts.ts';
import { flagWords } from '../../flag-words.ts';
import { BarsChart, colours } from '../charts/chart.tsx';
import { CountsTable } from '../parts/counts-table.tsx';
import { Empty, Tile } from '../parts/parts.tsx';
import { Snapshot } from '../parts/snapshots.tsx';
import { hashOf, type View } from '../state/hash.ts';
import { totalsOf, useReport } from '../state/report.ts';
import { bytes, count, share } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';

/** Everything at a glance: each number leads to what it counts. */
export function HealthView() {
  const { facts } = useReport();
  return (
    <>
      <h2>Health</h2>
      <Faults facts={facts} />
      <Totals facts={facts} />
      <Narrowed facts={facts} />
      <Broken facts={facts} />
      <Attention facts={facts} />
      <CalculationPanels facts={facts} />
      <CardPanels facts={facts} />
      <FilePanels facts={facts} />
      <h3>Snapshots</h3>
      {facts.snapshots.length === 0 ? (
        <Empty command="platform-sync snapshot calculations">No snapshot was published yet.</Empty>
      ) : (
        <div class="panels panels-wide">
          {facts.snapshots.map((snapshot) => (
            <Snapshot key={snapshot.place} of={snapshot} now={facts.writtenAt} />
          ))}
        </div>
      )}
    </>
  );
}

type Props = { readonly facts: ReportFacts };

function Faults({ facts: { faults } }: Props) {
  if (faults.length === 0) return null;
  return (
    <section class="notice" aria-labelledby="faults">
      <h3 id="faults">This report could not read everything</h3>
      <ul>
        {faults.map((fault) => (
          <li key={fault}>
            <Text of={fault} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What may be missing. */
function Narrowed({ facts: { narrowed } }: Props) {
  if (narrowed.length === 0) return null;
  return (
    <section class="notice">
      {narrowed.map(({ source, places }) => (
        <p key={source}>
          No whole run of <strong>{source}</strong> is published. This report shows what{' '}
          <Text of={places.join(', ')} /> {places.length === 1 ? 'holds' : 'hold'}: what uses a thing, and
          what is missing, may lie outside.
        </p>
      ))}
    </section>
  );
}

function Totals({ facts }: Props) {
  const totals = Object.entries(totalsOf(facts)) as [View, number | undefined][];
  return (
    <ul class="tiles">
      {totals.map(([view, total]) => {
        const note = view === 'files' ? facts.files && bytes(facts.files.bytes) : undefined;
        return (
          total !== undefined && (
            <Tile key={view} label={view.replace('-', ' ')} value={total} href={hashOf(view)} note={note} />
          )
        );
      })}
    </ul>
  );
}

const broken = [
  ['calculations', brokenFlags],
  ['cards', flagsOf.card],
] as const;

/** What is broken, each way by itself and in a sentence. */
function Broken({ facts }: Props) {
  if (facts.calculations === undefined && facts.cards === undefined) return null;
  return (
    <>
      <h3>Broken</h3>
      <ul class="tiles">
        {broken.map(([view, flags]) => {
          const counts: Readonly<Partial<Record<string, number>>> | undefined = facts[view]?.flags;
          return (
            counts &&
            flags.map((flag) => (
              <Tile
                key={`${view} ${flag}`}
                label={`${view} ${flagWords[flag].which}`}
                value={counts[flag] ?? 0}
                href={hashOf(view, { flag })}
                note={flagWords[flag].meaning}
                tone="bad"
              />
            ))
          );
        })}
      </ul>
    </>
  );
}

const worthALook = ['unused', 'locked', 'same_name', 'same_links', 'archived', 'oldest'] as const;

function Attention({ facts: { calculations, cards, jobs } }: Props) {
  if (calculations === undefined) return null;
  const { flags, total } = calculations;
  const unknown = jobs.types.reduce((sum, each) => sum + each.unknown, 0);
  const shut = cards?.flags.without_access ?? 0;
  return (
    <>
      <h3>Worth a look</h3>
      <ul class="tiles">
        {worthALook.map((flag) => (
          <Tile
            key={flag}
            label={`calculations ${flagWords[flag].which}`}
            value={flags[flag]}
            href={hashOf('calculations', { flag })}
            note={`${share(flags[flag], total)} of all`}
          />
        ))}
        {shut > 0 && (
          <Tile
            label={shut === 1 ? 'card without access' : 'cards without access'}
            value={shut}
            href={hashOf('cards', { flag: 'without_access' })}
          />
        )}
        {unknown > 0 && (
          <Tile label="jobs whose outcome is unknown" value={unknown} href={hashOf('jobs')} tone="bad" />
        )}
      </ul>
    </>
  );
}

function CalculationPanels({ facts: { calculations, graph } }: Props) {
  if (calculations === undefined) return null;
  const { total, status, links, lastModified } = calculations;
  const sumOfLinks = links.others + links.values.reduce((sum, [, each]) => sum + each, 0);
  const most = lastModified.reduce((best, each) => (each[1] > best[1] ? each : best), ['', 0] as const);
  const linksOf = (value: string) =>
    value === 'VALID' ? hashOf('calculations') : hashOf('broken', { valid: value });
  return (
    <>
      <h3>Calculations</h3>
      <div class="panels">
        {table('By status', status, total, (value) => hashOf('calculations', { status: value }))}
        {table('Links by validity', links, sumOfLinks, graph.invalid.length > 0 ? linksOf : undefined)}
      </div>
      {lastModified.length > 0 && (
        <BarsChart
          title="Calculations by the month of their last change"
          summary={`Most in ${most[0]}: ${count(most[1])}.`}
          by="month"
          at={lastModified.map(([month]) => month)}
          parts={[
            { name: 'calculations', colour: colours.plain, values: lastModified.map(([, each]) => each) },
          ]}
        />
      )}
    </>
  );
}

const table = (title: string, counts: Counts, total: number, hrefOf?: (value: string) => string) => (
  <CountsTable title={title} counts={counts} total={total} hrefOf={hrefOf} />
);

const whole = (values: Counts['values']): Counts => ({ values, others: 0 });

function CardPanels({ facts: { cards } }: Props) {
  if (cards === undefined) return null;
  const { total, type, chartType } = cards;
  return (
    <>
      <h3>Cards</h3>
      <div class="panels">
        {table('By type', type, total, (value) => hashOf('cards', { type: value }))}
        {table('By chart', chartType, total)}
      </div>
    </>
  );
}

function FilePanels({ facts: { files, dataFiles } }: Props) {
  if (files === undefined && dataFiles === undefined) return null;
  return (
    <>
      <h3>Files</h3>
      <div class="panels">
        {files && (
          <>
            {table('Files by type', files.fileType, files.total, (type) => hashOf('files', { type }))}
            {table('Files by index status', files.indexStatus, files.total)}
            {table(
              `Files by FileSet, ${bytes(files.bytes)} in ${count(files.filesets.length)}`,
              whole(files.filesets.map((each) => [each.id, each.files])),
              files.total,
              (fileset) => hashOf('files', { fileset }),
            )}
          </>
        )}
        {dataFiles && (
          <>
            {table('Data files by scan state', dataFiles.scanState, dataFiles.total, (scan) =>
              hashOf('data-files', { scan }),
            )}
            {table('Data files by age', whole(dataFiles.age), dataFiles.total)}
          </>
        )}
      </div>
    </>
  );
}
