import { shortened } from '../../base/index.ts';
import { duration, number } from './words.ts';

/** How far a command is. */
export type Far = {
  readonly name: string;
  /** Received so far. */
  readonly records: number;
  /** How many there will be, as far as anybody knows. */
  readonly total: number | undefined;
  /** The part of all that has been done, from 0 to 1; undefined if nobody knows. */
  readonly share: number | undefined;
  readonly requests: number;
  readonly throttled: number;
  /** Records a second. */
  readonly rate: number;
  /** Undefined if nobody knows. */
  readonly secondsLeft: number | undefined;
  /** What else is to be said of them, such as how many failed. */
  readonly also?: readonly string[] | undefined;
  /** The words for what is received and for what is sent. */
  readonly nouns: readonly [records: string, requests: string];
};

/** One line for a log: all that is known. */
export function progressLine(far: Far): string {
  const share = far.share === undefined ? [] : [percent(far.share)];
  return `${far.name}: ${[...share, ...wordsOf(far, 'log')].join(', ')}`;
}

/** A bar is no wider, and one that is narrower shows nothing. */
const WIDEST_BAR = 40;
const NARROWEST_BAR = 10;

/**
 * One line for a terminal with so many columns, of which the last stays empty: the more room, the more it says; the
 * percentage, the rate and the time left are always there.
 */
export function screenLine(far: Far, columns: number): string {
  const most = columns - 1;
  const words = (['log', 'screen', 'narrow'] as const).map((room) => wordsOf(far, room).join(', '));
  const head = far.share === undefined ? far.name : `${far.name} ${percent(far.share)}`;
  const fitting = words.find((each) => head.length + GAP.length + each.length <= most);
  if (fitting === undefined) return narrowLine(far, words.at(-1) ?? '', most);
  const room = Math.min(WIDEST_BAR, most - head.length - fitting.length - GAP.length - 1);
  const bar = far.share === undefined || room < NARROWEST_BAR ? '' : ` ${drawn(far.share, room)}`;
  return `${head}${bar}${GAP}${fitting}`;
}

const GAP = '  ';

/** The name is what people know already. */
function narrowLine({ name, share }: Far, words: string, most: number): string {
  const rest = `${share === undefined ? '' : ` ${percent(share)}`}${GAP}${words}`;
  return `${shortened(name, Math.max(1, most - rest.length - 1))}${rest}`;
}

function drawn(share: number, columns: number): string {
  const full = Math.floor(share * columns);
  return '='.repeat(full) + '-'.repeat(columns - full);
}

/** All of it only when it is: `100%` is said of nothing that goes on. */
const percent = (share: number) => `${Math.min(99, Math.floor(share * 100))}%`;

/** What is said of it: all in a log, less on a screen. */
const wordsOf = (far: Far, room: 'log' | 'screen' | 'narrow'): readonly string[] => [
  ...(room !== 'narrow' ? [counted(far), ...(far.also ?? [])] : []),
  ...(room === 'narrow' && far.share === undefined ? [number(far.records)] : []),
  ...(room === 'log' ? [`${number(far.requests)} ${far.nouns[1]}`] : []),
  room === 'narrow' ? `${rateOf(far)}/s` : `${rateOf(far)} a second`,
  ...(room === 'log' && far.throttled > 0 ? [`${number(far.throttled)} throttled`] : []),
  // What a division of floating-point numbers may add to a whole number is no second.
  ...(far.secondsLeft === undefined ? [] : [`${duration(Math.ceil(far.secondsLeft - 1e-6))} left`]),
];

const counted = ({ records, total, nouns }: Far): string =>
  `${number(records)}${total === undefined ? '' : ` of about ${number(total)}`} ${nouns[0]}`;

/** A slow rate to a tenth: it is what the time left is made of. */
const rateOf = ({ rate }: Far): string => number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate));
