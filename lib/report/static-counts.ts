import type { ReportFacts } from './facts.ts';

/** The main counts as HTML, for readers without scripts. Texts are escaped. */
export function printStaticCounts(facts: ReportFacts): string {
  const rows = countsOf(facts).flatMap(([name, count]) =>
    count === undefined ? [] : `<tr><th scope="row">${name}</th><td>${count.toLocaleString('en')}</td></tr>`,
  );
  const snapshots = facts.snapshots.map(
    ({ place, run, records, finishedAt }) =>
      `<tr><th scope="row">${escaped(place)}</th><td>${escaped(run)}</td><td>${records.toLocaleString('en')}</td><td>${timeOf(finishedAt)}</td></tr>`,
  );
  return `<main class="static"><h1>Platform report</h1>
<p>${escaped(facts.platform ?? 'No platform yet')}, written ${timeOf(facts.writtenAt)}. This page needs its script to show more.</p>
<table><caption>Counts</caption><tbody>${rows.join('')}</tbody></table>
<table><caption>Snapshots</caption><thead><tr><th scope="col">Place</th><th scope="col">Run</th><th scope="col">Records</th><th scope="col">Finished</th></tr></thead><tbody>${snapshots.join('')}</tbody></table>
</main>`;
}

const countsOf = ({ calculations, cards, datasets, owners, files, dataFiles, jobs }: ReportFacts) =>
  [
    ['Calculations', calculations?.total],
    ['Calculations with broken links', calculations?.flags.broken_links],
    ['Calculations that are invalid', calculations?.flags.invalid],
    ['Calculations with a missing target', calculations?.flags.missing_target],
    ['Calculations that are affected by these', calculations?.flags.affected],
    ['Calculations that nothing uses', calculations?.flags.unused],
    ['Calculations that are locked', calculations?.flags.locked],
    ['Cards', cards?.total],
    ['Cards with a missing target', cards?.flags.missing_target],
    ['Cards that are affected', cards?.flags.affected],
    ['Datasets', datasets?.total],
    ['Owners', owners?.total],
    ['Files', files?.total],
    ['Data files', dataFiles?.total],
    ['Jobs whose outcome is unknown', jobs.types.reduce((sum, { unknown }) => sum + unknown, 0)],
  ] as const;

const timeOf = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
