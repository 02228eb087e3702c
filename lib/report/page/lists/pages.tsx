import { count } from '../text/numbers.ts';

type Props = {
  /** 1 is the first. */
  readonly number: number;
  readonly pages: number;
  readonly onPage: (number: number) => void;
};

/** The way from page to page of a list; nothing if there is one alone. */
export function Pages({ number, pages, onPage }: Props) {
  if (pages === 1) return null;
  const button = (label: string, to: number) => {
    const leads = to >= 1 && to <= pages && to !== number;
    // Not `disabled`, which would take the focus away from whoever came to the end by it.
    return (
      <button type="button" aria-disabled={!leads} onClick={() => leads && onPage(to)}>
        {label}
      </button>
    );
  };
  return (
    <nav class="pages" aria-label="Pages of the list">
      {button('First', 1)}
      {button('Previous', number - 1)}
      <span>
        Page {count(number)} of {count(pages)}
      </span>
      {button('Next', number + 1)}
      {button('Last', pages)}
    </nav>
  );
}
