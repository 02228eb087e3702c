import type { Manifest } from '../manifest.ts';
import type { GateName } from '../scan.ts';

type Refused = Pick<
  Manifest,
  'refused' | 'records' | 'totals' | 'passes' | 'degradedPages' | 'order' | 'calls' | 'missing'
>;

/** The reasons by name in one line, with the number of pages that stayed degraded: `degraded (3 pages), shrunk`. */
export const refusedAs = ({
  refused,
  degradedPages = 0,
}: Pick<Refused, 'degradedPages'> & { readonly refused: readonly string[] }): string =>
  refused
    .map((reason) =>
      reason === 'degraded' && degradedPages > 0 ? `degraded (${pages(degradedPages)})` : reason,
    )
    .join(', ');

const pages = (found: number): string => `${count(found)} ${found === 1 ? 'page' : 'pages'}`;

/** How many pages stayed degraded, in words; none if no page did. */
export const degradedWords = (degradedPages = 0): readonly string[] =>
  degradedPages === 0 ? [] : [`${pages(degradedPages)} stayed degraded`];

/** Why a run was refused, a line a reason, and what was read, in numbers, if that is why. None for a run that was not. */
export function refusalWords(manifest: Refused): readonly string[] {
  const { refused } = manifest;
  const reasons = refused.map((reason) => REASONS[reason as GateName] ?? reason);
  const isOfWhatWasRead = refused.some((reason) => OF_WHAT_WAS_READ.includes(reason as GateName));
  return isOfWhatWasRead ? [...reasons, `read: ${readWords(manifest)}`] : reasons;
}

/** The others are of what surrounds the run: its selection, its clock, the run before it. */
const OF_WHAT_WAS_READ: readonly GateName[] = ['empty', 'shrunk', 'degraded', 'unproved', 'incomplete'];

/** `19,950 records by 2 passes in the order of id; the platform counted 20,000 at the start and 20,010 at the end; …`. */
function readWords({ records, totals, passes, degradedPages, order, calls, missing }: Refused): string {
  const { start, end } = totals;
  const ends = [
    start === null ? [] : `${count(start)} at the start`,
    end === null ? [] : `${count(end)} at the end`,
  ];
  const counted = ends.flat().join(' and ');
  return [
    `${count(records)} records by ${count(passes)} ${passes === 1 ? 'pass' : 'passes'} in the order of ${order}`,
    ...(counted === '' ? [] : [`the platform counted ${counted}`]),
    ...degradedWords(degradedPages),
    ...(missing.length === 0 ? [] : [`${count(missing.length)} ids could not be read`]),
    `${count(calls.requests)} requests, ${count(calls.retries)} retries`,
  ].join('; ');
}

const count = (value: number): string => value.toLocaleString('en');

const REASONS = {
  empty: 'empty: no records, although the last run had some',
  shrunk: 'shrunk: fewer than half of the last run’s records',
  degraded:
    'degraded: the platform kept reporting that its responses may lack rows, each time that such a page was read again',
  type: 'type: a field has none of the JSON types that it had in the last run',
  selection: 'selection: the run does not request the same records as the last run',
  platform: 'platform: the last run was taken from another platform (PLATFORM_BASE_URL)',
  incomplete: 'incomplete: nothing that was requested could be read',
  future: 'future: the run started in the future, so the clock of the machine that began it was wrong',
  broken: 'broken: the last published run is missing or damaged, so this one cannot be compared with it',
  unproved: 'unproved: it could not be proved that no record was lost while the pages were read',
} as const satisfies Record<GateName, string>;
