import { count } from '../text/numbers.ts';

type Props = {
  readonly label: string;
  readonly value: number;
  /** What it counts, as a list. */
  readonly href: string;
  /** `bad`: something to look at, if it is not 0. */
  readonly tone?: 'bad' | 'plain';
  readonly note?: string | undefined;
};

/** One number, large, that leads to what it counts. */
export function Tile({ label, value, href, tone = 'plain', note }: Props) {
  return (
    <li>
      <a class={`tile ${tone === 'bad' && value > 0 ? 'tile-bad' : ''}`} href={href}>
        <span class="tile-value">{count(value)}</span>
        <span class="tile-label">{label}</span>
        {note !== undefined && <span class="tile-note">{note}</span>}
      </a>
    </li>
  );
}
