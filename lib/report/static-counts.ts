import type { ReportFacts } from './facts.ts';
import { flagWords } from './flag-words.ts';

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

/** The flags that are counted there. */
const listed = {
  calculations: ['broken_links', 'invalid', 'missing_target', 'affected', 'unused', 'locked'],
  cards: ['missing_target', 'affected'],
} as const;

function countsOf(facts: ReportFacts): readonly (readonly [name: string, count: number | undefined])[] {
  const flagged = (name: keyof typeof listed, noun: string) => {
    const flags: Readonly<Partial<Record<string, number>>> | undefined = facts[name]?.flags;
    return listed[name].map((flag) => [`${noun} ${flagWords[flag].which}`, flags?.[flag]] as const);
  };
  return [
    ['Calculations', facts.calculations?.total],
    ...flagged('calculations', 'Calculations'),
    ['Cards', facts.cards?.total],
    ...flagged('cards', 'Cards'),
    ['Datasets', facts.datasets?.total],
    ['Owners', facts.owners?.total],
    ['Files', facts.files?.total],
    ['Data files', facts.dataFiles?.total],
    ['Jobs whose outcome is unknown', facts.jobs.types.reduce((sum, { unknown }) => sum + unknown, 0)],
  ];
}

const timeOf = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
