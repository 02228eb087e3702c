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

function Totals({ facts: { calculations, cards, datasets, files, dataFiles } }: Props) {
  return (
    <ul class="tiles">
      {calculations && <Tile label="calculations" value={calculations.total} href={hashOf('calculations')} />}
      {cards && <Tile label="cards" value={cards.total} href={hashOf('cards')} />}
      {datasets && <Tile label="datasets" value={datasets.total} href={hashOf('datasets')} />}
      {files && <Tile label="files" value={files.total} href={hashOf('files')} note={bytes(files.bytes)} />}
      {dataFiles && <Tile label="data files" value={dataFiles.total} href={hashOf('data-files')} />}
    </ul>
  );
}

function Attention({ facts: { calculations, cards, jobs } }: Props) {
  if (calculations === undefined) return null;
  const { flags, total } = calculations;
  const unknown = jobs.types.reduce((sum, each) => sum + each.unknown, 0);
  const flagged = (flag: keyof typeof flags, label: string, tone?: 'bad') => (
    <Tile
      label={label}
      value={flags[flag]}
      href={hashOf('calculations', { flag })}
      note={`${share(flags[flag], total)} of all`}
      {...(tone === undefined ? {} : { tone })}
    />
  );
  return (
    <>
      <h3>Worth a look</h3>
      <ul class="tiles">
        {flagged('broken', 'calculations with a broken reference', 'bad')}
        {flagged('unused', 'that nothing uses')}
        {flagged('locked', 'locked')}
        {flagged('sameName', 'share a name')}
        {flagged('sameLinks', 'have the same links')}
        {flagged('archived', 'archived')}
        {flagged('oldest', 'left unchanged the longest')}
        {cards && cards.withoutAccess > 0 && (
          <Tile
            label={cards.withoutAccess === 1 ? 'card without access' : 'cards without access'}
            value={cards.withoutAccess}
            href={hashOf('cards', { flag: 'withoutAccess' })}
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
  const { total, status, owners, links, lastModified } = calculations;
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
        <CountsTable
          title="By owner"
          counts={owners}
          total={total}
          hrefOf={(value) => hashOf('calculations', { owner: value })}
        />
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

function CardPanels({ facts: { cards, datasets } }: Props) {
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
        <CountsTable
          title="By owner"
          counts={cards.owners}
          total={cards.total}
          hrefOf={(owner) => hashOf('cards', { owner })}
        />
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

function FilePanels({ facts: { files, dataFiles } }: Props) {
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
            <CountsTable title="Data files by owner" counts={dataFiles.owners} total={dataFiles.total} />
          </>
        )}
      </div>
    </>
  );
}
