import { quoted, shownText } from '../../base/index.ts';
import { type BrokenFlag, brokenFlags } from '../../model/index.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { degradedWords, refusedAs } from '../../snapshot/publish/refusal-words.ts';
import { flagWords } from '../flag-words.ts';
import { REPORT_PAGE_KEY } from '../stored-report.ts';
import type { BrokenThings, Digest, First } from './digest.ts';

/** A message as people read it: a subject in ASCII of fewer than 100 characters, and lines of text. */
export type PrintedDigest = { readonly subject: string; readonly text: string };

type PrintOptions = {
  /** The store's, as SYNC_STORE names it. */
  readonly location: string;
  /** Whether a report is stored there. */
  readonly hasReport: boolean;
};

/** Puts a digest into words. */
export function printDigest(digest: Digest, { location, hasReport }: PrintOptions): PrintedDigest {
  const { manifest, compared, changes, broken, newlyMissing } = digest;
  const { source: place, run } = manifest;
  const lines = [
    `${place}: run ${run} was published.`,
    '',
    `Platform: ${manifest.platform}`,
    `Taken: ${minute(manifest.startedAt)} to ${minute(manifest.finishedAt)} UTC`,
    `Records: ${count(manifest.records)}`,
    changedLine(compared),
    ...warningsOf(manifest),
    ...(broken === undefined ? [] : [wrongLine(broken)]),
    ...brokenFlags.flatMap((flag) =>
      sectionOf(`New ${flagWords[flag].which}`, broken?.[flag].newly, `. ${flagWords[flag].meaning}`),
    ),
    ...sectionOf('Removed', changes?.removed),
    ...sectionOf('Added', changes?.added),
    ...sectionOf('Changed', changes?.changed),
    ...(manifest.missing.length === 0 ? [] : ['', `Could not be read: ${count(manifest.missing.length)}`]),
    ...sectionOf('Could be read the time before', newlyMissing),
    '',
    ...(hasReport
      ? [`Report: ${location}/${REPORT_PAGE_KEY}`, 'A link to it: npx platform-sync report --link']
      : ['All of it on one page: npx platform-sync report --open']),
    ...(compared === null
      ? []
      : [`All changes: npx platform-sync diff ${place} ${quoted(compared.against)} ${quoted(run)}`]),
    `(with SYNC_STORE=${location})`,
  ];
  return { subject: subjectOf(digest), text: lines.map(safeLine).join('\n') };
}

const wrongLine = (broken: BrokenThings | null): string =>
  broken === null
    ? 'What is broken is not known: see the faults of the report.'
    : `Wrong in all: ${brokenFlags.map((flag) => `${thingsIn(broken[flag])} ${flagWords[flag].which}`).join(', ')}`;

/** Apart, as the report and SQL count them. */
const thingsIn = ({ calculations, cards }: BrokenThings[BrokenFlag]): string =>
  [counted(calculations, 'calculation'), ...(cards === 0 ? [] : [counted(cards, 'card')])].join(' and ');

const counted = (of: number, noun: string): string => `${count(of)} ${noun}${of === 1 ? '' : 's'}`;

function changedLine(compared: Digest['compared']): string {
  if (compared === null) return 'It was compared with no other run.';
  const { against, added, removed, changed } = compared;
  if (added + removed + changed === 0) return `Nothing has changed since run ${against}.`;
  return `Since run ${against}: ${countsOf(compared)}`;
}

const warningsOf = ({ forced, refused, degradedPages, consistency }: Manifest): readonly string[] => [
  ...(forced
    ? [`It was published by force, although refused: ${refusedAs({ refused, degradedPages })}`]
    : []),
  ...(consistency === 'proved'
    ? []
    : [`${['It is not proved that it is complete', ...degradedWords(degradedPages)].join(': ')}.`]),
];

type Counts = { readonly added: number; readonly removed: number; readonly changed: number };

const countsOf = ({ added, removed, changed }: Counts): string =>
  `${count(added)} added, ${count(removed)} removed, ${count(changed)} changed`;

function sectionOf(heading: string, first: First | undefined, meaning = ''): readonly string[] {
  if (first === undefined || first.total === 0) return [];
  const more = first.total - first.items.length;
  return [
    '',
    `${heading}: ${count(first.total)}${meaning}`,
    ...first.items.flat().map((line) => `  ${line}`),
    ...(more === 0 ? [] : [`  and ${count(more)} more`]),
  ];
}

/** SNS takes fewer than 100 characters. */
const LONGEST_SUBJECT = 99;
const MOST_WHAT = 75;

function subjectOf({ manifest, compared, broken }: Digest): string {
  const { source: place, platform, records } = manifest;
  const newly = brokenFlags.flatMap((flag) => {
    const total = broken?.[flag].newly?.total ?? 0;
    return total === 0 ? [] : [`${count(total)} ${flagWords[flag].which}`];
  });
  const changed = compared === null ? `${count(records)} records` : countsOf(compared);
  // What is worse comes first: of more there is no room.
  const what = [...newly.map((each, at) => `${at === 0 ? 'new: ' : ''}${each}`), changed].reduce(
    (all, each) => (all.length + each.length < MOST_WHAT ? `${all}, ${each}` : all),
  );
  const where = `${place} of ${platform}`.replaceAll(/[^ -~]/g, '?');
  const room = LONGEST_SUBJECT - what.length - ': '.length;
  return `${where.length <= room ? where : `${where.slice(0, Math.max(0, room - 3))}...`}: ${what}`;
}

const LONGEST_LINE = 400;

/** What follows a scheme, but in the lines of our own that end with an address. */
const ADDRESS = /(?<!^(?:Report: |\(with SYNC_STORE=)s3|^ +in the platform: https?):\/\//g;

/**
 * A line that does in a terminal and in a mail program what any other does: no control characters, nothing that turns
 * its direction, and no address that becomes a link by itself.
 */
export const safeLine = (line: string): string =>
  shownText(line, LONGEST_LINE)
    .replaceAll(ADDRESS, ': //')
    .replaceAll(/[\ufffe\uffff]/g, '\ufffd')
    .toWellFormed();

const minute = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

const count = (value: number): string => value.toLocaleString('en-US');
