import type { Counts, ReportFacts } from '../../facts.ts';
import { flagWords } from '../../flag-words.ts';
import { MonthsChart } from '../charts/charts.tsx';
import { CountsTable } from '../parts/counts-table.tsx';
import { Empty, Tile } from '../parts/parts.tsx';
import { Snapshots } from '../parts/snapshots.tsx';
import { hashOf } from '../state/hash.ts';
import { useReport } from '../state/report.ts';
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
        <Snapshots />
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

function Totals({ facts: { calculations, cards, datasets, owners, files, dataFiles } }: Props) {
  return (
    <ul class="tiles">
      {calculations && <Tile label="calculations" value={calculations.total} href={hashOf('calculations')} />}
      {cards && <Tile label="cards" value={cards.total} href={hashOf('cards')} />}
      {datasets && <Tile label="datasets" value={datasets.total} href={hashOf('datasets')} />}
      {owners && <Tile label="owners" value={owners.total} href={hashOf('owners')} />}
      {files && <Tile label="files" value={files.total} href={hashOf('files')} note={bytes(files.bytes)} />}
      {dataFiles && <Tile label="data files" value={dataFiles.total} href={hashOf('data-files')} />}
    </ul>
  );
}

const broken = [
  ['calculations', ['broken_links', 'invalid', 'missing_target', 'affected']],
  ['cards', ['missing_target', 'affected']],
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

const worthALook = [
  ['unused', 'calculations that nothing uses'],
  ['locked', 'locked'],
  ['same_name', 'share a name'],
  ['same_links', 'have the same links'],
  ['archived', 'archived'],
  ['oldest', 'left unchanged the longest'],
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
        {worthALook.map(([flag, label]) => (
          <Tile
            key={flag}
            label={label}
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

function CalculationPanels({ facts }: Props) {
  const { calculations, graph } = facts;
  if (calculations === undefined) return null;
  const { total, status, links, lastModified } = calculations;
  const sumOfLinks = links.others + links.values.reduce((sum, [, each]) => sum + each, 0);
  const hrefOf = (value: string) =>
    value === 'VALID' ? hashOf('calculations') : hashOf('broken', { valid: value });
  return (
    <>
      <h3>Calculations</h3>
      <div class="panels">
        <CountsTable
          title="By status"
          counts={status}
          total={total}
          hrefOf={(value) => hashOf('calculations', { status: value })}
        />
        <OwnersTable facts={facts} of="calculations" title="By owner" total={total} />
        <CountsTable
          title="Links by validity"
          counts={links}
          total={sumOfLinks}
          {...(graph.invalid.length > 0 && { hrefOf })}
        />
      </div>
      {lastModified.length > 0 && (
        <MonthsChart title="Calculations by the month of their last change" months={lastModified} />
      )}
    </>
  );
}

const whole = (values: Counts['values']): Counts => ({ values, others: 0 });

function CardPanels({ facts }: Props) {
  const { cards, datasets } = facts;
  if (cards === undefined) return null;
  const { id = [], cards: counts = [] } = datasets?.list.columns ?? {};
  return (
    <>
      <h3>Cards</h3>
      <div class="panels">
        <CountsTable
          title="By type"
          counts={cards.type}
          total={cards.total}
          hrefOf={(type) => hashOf('cards', { type })}
        />
        <CountsTable title="By chart" counts={cards.chartType} total={cards.total} />
        <OwnersTable facts={facts} of="cards" title="By owner" total={cards.total} />
        {datasets !== undefined && (
          <CountsTable
            title="Datasets by cards"
            counts={whole(id.slice(0, 12).map((dataset, row) => [dataset, counts[row] ?? 0]))}
            total={cards.total}
            hrefOf={(dataset) => hashOf('cards', { dataset })}
          />
        )}
      </div>
    </>
  );
}

const MOST_OWNERS = 50;

type OwnersProps = Props & {
  readonly of: 'calculations' | 'cards' | 'data_files';
  readonly title: string;
  readonly total: number;
};

/** Who owns the most of something. A card may have several owners. */
function OwnersTable({ facts: { owners }, of, title, total }: OwnersProps) {
  const { ownerOf } = useReport();
  const { id = [], [of]: counts = [] } = owners?.list.columns ?? {};
  const all = id
    .map((owner, row) => [owner, counts[row] ?? 0] as const)
    .filter(([, many]) => many > 0)
    .toSorted(([, a], [, b]) => b - a);
  const others = all.slice(MOST_OWNERS).reduce((sum, [, many]) => sum + many, 0);
  return (
    <CountsTable
      title={title}
      counts={{ values: all.slice(0, MOST_OWNERS), others }}
      total={total}
      labelOf={ownerOf}
      {...(of !== 'data_files' && { hrefOf: (owner: string) => hashOf(of, { owner }) })}
    />
  );
}

function FilePanels({ facts }: Props) {
  const { files, dataFiles } = facts;
  if (files === undefined && dataFiles === undefined) return null;
  return (
    <>
      <h3>Files</h3>
      <div class="panels">
        {files && (
          <>
            <CountsTable
              title="Files by type"
              counts={files.fileType}
              total={files.total}
              hrefOf={(type) => hashOf('files', { type })}
            />
            <CountsTable title="Files by index status" counts={files.indexStatus} total={files.total} />
            <CountsTable
              title={`Files by FileSet, ${bytes(files.bytes)} in ${count(files.filesets.length)}`}
              counts={whole(files.filesets.map((each) => [each.id, each.files]))}
              total={files.total}
              hrefOf={(fileset) => hashOf('files', { fileset })}
            />
          </>
        )}
        {dataFiles && (
          <>
            <CountsTable
              title="Data files by scan state"
              counts={dataFiles.scanState}
              total={dataFiles.total}
              hrefOf={(scan) => hashOf('data-files', { scan })}
            />
            <CountsTable title="Data files by age" counts={whole(dataFiles.age)} total={dataFiles.total} />
            <OwnersTable facts={facts} of="data_files" title="Data files by owner" total={dataFiles.total} />
          </>
        )}
      </div>
    </>
  );
}
