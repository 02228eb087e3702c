import { shortened } from '../../base/index.ts';
import { number } from './words.ts';

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
  return `${far.name}: ${[...share, ...longWords(far)].join(', ')}`;
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
  const words = [longWords(far), middleWords(far), shortWords(far)].map((each) => each.join(', '));
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

const longWords = (far: Far): readonly string[] => [
  counted(far),
  ...(far.also ?? []),
  `${number(far.requests)} ${far.nouns[1]}`,
  `${rateOf(far)} a second`,
  ...(far.throttled === 0 ? [] : [`${number(far.throttled)} throttled`]),
  ...leftOf(far),
];

const middleWords = (far: Far): readonly string[] => [
  counted(far),
  ...(far.also ?? []),
  `${rateOf(far)} a second`,
  ...leftOf(far),
];

const shortWords = (far: Far): readonly string[] => [
  ...(far.share === undefined ? [number(far.records)] : []),
  `${rateOf(far)}/s`,
  ...leftOf(far),
];

const counted = ({ records, total, nouns }: Far): string =>
  `${number(records)}${total === undefined ? '' : ` of about ${number(total)}`} ${nouns[0]}`;

const leftOf = ({ secondsLeft }: Far): readonly string[] =>
  secondsLeft === undefined ? [] : [`${duration(secondsLeft)} left`];

/** A slow rate to a tenth: it is what the time left is made of. */
const rateOf = ({ rate }: Far): string => number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate));

/** What a division of floating-point numbers may add to a whole number. */
const ROUNDING = 1e-6;

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds - ROUNDING)} s`;
  return seconds < 3600 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
