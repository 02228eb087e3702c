import { type Flag, flagMeanings } from '../../../model/flags.ts';
import type { ReportFacts } from '../../facts.ts';
import { MonthsChart } from '../charts/months-chart.tsx';
import { CountsTable } from '../parts/counts-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Snapshots } from '../parts/snapshots.tsx';
import { Tile } from '../parts/tile.tsx';
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

function Faults({ facts }: Props) {
  if (facts.faults.length === 0) return null;
  return (
    <section class="notice" aria-labelledby="faults">
      <h3 id="faults">This report could not read everything</h3>
      <ul>
        {facts.faults.map((fault) => (
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

const { broken_links, invalid, missing_target, affected } = flagMeanings;

/** What is broken, each way by itself and in a sentence. */
function Broken({ facts: { calculations, cards } }: Props) {
  if (calculations === undefined && cards === undefined) return null;
  const tile = (
    view: 'calculations' | 'cards',
    flag: Flag,
    value: number | undefined,
    label: string,
    note: string,
  ) =>
    value !== undefined && (
      <Tile label={`${view} ${label}`} value={value} href={hashOf(view, { flag })} note={note} tone="bad" />
    );
  return (
    <>
      <h3>Broken</h3>
      <ul class="tiles">
        {tile(
          'calculations',
          'broken_links',
          calculations?.flags.broken_links,
          'with broken links',
          broken_links,
        )}
        {tile('calculations', 'invalid', calculations?.flags.invalid, 'that are invalid', invalid)}
        {tile(
          'calculations',
          'missing_target',
          calculations?.flags.missing_target,
          'with a missing target',
          missing_target,
        )}
        {tile('calculations', 'affected', calculations?.flags.affected, 'that are affected', affected)}
        {tile(
          'cards',
          'missing_target',
          cards?.flags.missing_target,
          'with a missing target',
          missing_target,
        )}
        {tile('cards', 'affected', cards?.flags.affected, 'that are affected', affected)}
      </ul>
    </>
  );
}

function Attention({ facts: { calculations, cards, jobs } }: Props) {
  if (calculations === undefined) return null;
  const { flags, total } = calculations;
  const unknown = jobs.types.reduce((sum, each) => sum + each.unknown, 0);
  const flagged = (flag: keyof typeof flags, label: string) => (
    <Tile
      label={label}
      value={flags[flag]}
      href={hashOf('calculations', { flag })}
      note={`${share(flags[flag], total)} of all`}
    />
  );
  return (
    <>
      <h3>Worth a look</h3>
      <ul class="tiles">
        {flagged('unused', 'calculations that nothing uses')}
        {flagged('locked', 'locked')}
        {flagged('same_name', 'share a name')}
        {flagged('same_links', 'have the same links')}
        {flagged('archived', 'archived')}
        {flagged('oldest', 'left unchanged the longest')}
        {cards && cards.flags.without_access > 0 && (
          <Tile
            label={cards.flags.without_access === 1 ? 'card without access' : 'cards without access'}
            value={cards.flags.without_access}
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
          {...(graph.invalid.length === 0
            ? {}
            : {
                hrefOf: (value: string) =>
                  value === 'VALID' ? hashOf('calculations') : hashOf('broken', { valid: value }),
              })}
        />
      </div>
      {lastModified.length > 0 && (
        <MonthsChart title="Calculations by the month of their last change" months={lastModified} />
      )}
    </>
  );
}

function CardPanels({ facts }: Props) {
  const { cards, datasets } = facts;
  if (cards === undefined) return null;
  const columns = datasets?.list.columns;
  const byCards = (columns?.id ?? []).map((id, row) => [id, columns?.cards[row] ?? 0] as const);
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
        {columns !== undefined && (
          <CountsTable
            title="Datasets by cards"
            counts={{ values: byCards.slice(0, 12), others: 0 }}
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
  const values = all.slice(0, MOST_OWNERS);
  const others = all.slice(MOST_OWNERS).reduce((sum, [, many]) => sum + many, 0);
  return (
    <CountsTable
      title={title}
      counts={{ values, others }}
      total={total}
      labelOf={ownerOf}
      {...(of === 'data_files' ? {} : { hrefOf: (owner: string) => hashOf(of, { owner }) })}
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
              counts={{ values: files.filesets.map((each) => [each.id, each.files]), others: 0 }}
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
            <CountsTable
              title="Data files by age"
              counts={{ values: dataFiles.age, others: 0 }}
              total={dataFiles.total}
            />
            <OwnersTable facts={facts} of="data_files" title="Data files by owner" total={dataFiles.total} />
          </>
        )}
      </div>
    </>
  );
}
