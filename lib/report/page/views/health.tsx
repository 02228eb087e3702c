import { brokenFlags, flagsOf } from '../../../model/rules/index.ts';
import { type CalculationFacts, type Counts, flagWords, type ReportFacts } from '../../facts.ts';
import { BarsChart, colours } from '../charts/chart.tsx';
import { lastBySpan } from '../charts/spans.ts';
import { CountsTable } from '../parts/counts-table.tsx';
import { Empty, Notice, Tile } from '../parts/parts.tsx';
import { Refused, Snapshot } from '../parts/snapshots.tsx';
import { hashOf, type View } from '../state/hash.ts';
import { totalsOf, useReport } from '../state/report.ts';
import { bytes, count, share } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';

/** Shows an overview, in which each number links to the things that it counts. */
export function HealthView() {
  const { facts } = useReport();
  return (
    <>
      <h2>Health</h2>
      {facts.snapshots.map((snapshot) => (
        <Refused key={snapshot.place} of={snapshot} />
      ))}
      <Notice id="faults" title="This report could not read everything" texts={facts.faults} />
      <Totals facts={facts} />
      <Narrowed facts={facts} />
      <Broken facts={facts} />
      <Attention facts={facts} />
      <Progress facts={facts} />
      <Panels facts={facts} />
      <h3>Snapshots</h3>
      {facts.snapshots.length === 0 ? (
        <Empty command="platform-sync snapshot calculations">No snapshot has been published yet.</Empty>
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

/** A notice about sources of which only narrowed places are published. */
function Narrowed({ facts: { narrowed } }: Props) {
  if (narrowed.length === 0) return null;
  return (
    <section class="notice">
      {narrowed.map(({ source, places }) => (
        <p key={source}>
          No full run of <strong>{source}</strong> is published. This report shows only{' '}
          <Text of={places.join(', ')} />: other records may use a thing, or be what seems to be missing.
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

/** The number of broken things for each flag, with the meaning of the flag. */
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

const worthALook = [
  'unused',
  'locked',
  'same_name',
  'same_links',
  'same_formula',
  'archived',
  'oldest',
] as const;

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

const ofCards: ReadonlySet<string> = new Set(flagsOf.card);

/**
 * Charts of the unused and broken things by day: one for each flag that was ever set, as soon as there are two days.
 */
function Progress({ facts: { days } }: Props) {
  const first = days[0];
  const last = days.at(-1);
  if (first === undefined || last === undefined || days.length < 2) return null;
  const { by, lasts } = lastBySpan(days);
  const shown = (['unused', ...brokenFlags] as const).filter((flag) => days.some((each) => each[flag] > 0));
  if (shown.length === 0) return null;
  return (
    <>
      <h3>Over time</h3>
      {shown.map((flag) => (
        <BarsChart
          key={flag}
          title={`${ofCards.has(flag) ? 'Calculations and cards' : 'Calculations'} ${flagWords[flag].which}, by ${by}`}
          summary={`${count(first[flag])} on ${first.day}, ${count(last[flag])} on ${last.day}.`}
          by={by}
          at={[...lasts.keys()]}
          parts={[
            {
              name: flagWords[flag].label,
              colour: flag === 'unused' ? colours.plain : colours.negative,
              values: Array.from(lasts.values(), (each) => each[flag]),
            },
          ]}
        />
      ))}
    </>
  );
}

/** For each source, tables of how many records have each value. */
function Panels({ facts: { calculations, cards, files, dataFiles, graph } }: Props) {
  const to = (view: View, param: string) => (value: string) => hashOf(view, { [param]: value });
  const linksOf = (value: string) =>
    value === 'valid' ? hashOf('calculations') : hashOf('broken', { valid: value });
  return (
    <>
      {calculations && (
        <>
          <h3>Calculations</h3>
          <div class="panels">
            {table('By status', calculations, calculations.status, to('calculations', 'status'))}
            {table(
              'Links by validity',
              { total: sumOf(calculations.links) },
              calculations.links,
              graph.invalid.length > 0 ? linksOf : undefined,
            )}
          </div>
          <Months of={calculations.lastModified} />
        </>
      )}
      {cards && (
        <>
          <h3>Cards</h3>
          <div class="panels">
            {table('By type', cards, cards.type, to('cards', 'type'))}
            {table('By chart', cards, cards.chartType)}
          </div>
        </>
      )}
      {(files ?? dataFiles) && (
        <>
          <h3>Files</h3>
          <div class="panels">
            {files && table('Files by type', files, files.fileType, to('files', 'type'))}
            {files && table('Files by index status', files, files.indexStatus)}
            {files &&
              table(
                `Files by FileSet, ${bytes(files.bytes)} in ${count(files.filesets.length)}`,
                files,
                whole(files.filesets.map((each) => [each.id, each.files])),
                to('files', 'fileset'),
              )}
            {dataFiles &&
              table('Data files by scan state', dataFiles, dataFiles.scanState, to('data-files', 'scan'))}
            {dataFiles && table('Data files by age', dataFiles, whole(dataFiles.age))}
          </div>
        </>
      )}
    </>
  );
}

const table = (
  title: string,
  { total }: { readonly total: number },
  counts: Counts,
  hrefOf?: (value: string) => string,
) => <CountsTable title={title} counts={counts} total={total} hrefOf={hrefOf} />;

const whole = (values: Counts['values']): Counts => ({ values, others: 0 });

const sumOf = ({ others, values }: Counts) => values.reduce((sum, [, each]) => sum + each, others);

function Months({ of }: { readonly of: CalculationFacts['lastModified'] }) {
  if (of.length === 0) return null;
  const [month, most] = of.reduce((best, each) => (each[1] > best[1] ? each : best));
  return (
    <BarsChart
      title="Calculations by the month of their last change"
      summary={`Most in ${month}: ${count(most)}.`}
      by="month"
      at={of.map(([each]) => each)}
      parts={[{ name: 'calculations', colour: colours.plain, values: of.map(([, each]) => each) }]}
    />
  );
}
