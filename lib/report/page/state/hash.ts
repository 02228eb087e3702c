import { useEffect, useState } from 'preact/hooks';

/** The title of each view, in the navigation and above the view. */
export const viewTitles = {
  health: 'Health',
  changes: 'What changed',
  'where-used': 'Where used',
  batches: 'Sentiment',
  jobs: 'Jobs and pace',
  broken: 'Broken links',
  owners: 'Owners',
  owned: 'What an owner has',
  calculations: 'Calculations',
  cards: 'Cards',
  datasets: 'Datasets',
  files: 'Files',
  'data-files': 'Data files',
} as const;

/** The name of a view, as in an address. */
export type View = keyof typeof viewTitles;

/** The parameters of a view, as in an address. */
export type Params = Readonly<Record<string, string>>;

/**
 * A view and its state. The address has them after `#`, so that they can be shared: `calculations?flag=broken_links`.
 */
type Shown = { readonly view: View; readonly params: Params };

/** Parses the part of an address after `#`, with or without the `#`. An unknown view becomes `health`. */
export function parseHash(hash: string): Shown {
  const [, name = '', query = ''] = /^#?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const view = Object.hasOwn(viewTitles, name) ? (name as View) : 'health';
  return { view, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The part of a view's address from `#` on. Empty parameters are left out. */
export function hashOf(view: View, params: Params = {}): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== ''));
  return query.size === 0 ? `#${view}` : `#${view}?${query}`;
}

/** The view and the state in the address; a hook that follows the address. */
export function useShown(): Shown {
  const [shown, setShown] = useState(() => parseHash(location.hash));
  useEffect(() => {
    const read = () => setShown(parseHash(location.hash));
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  return shown;
}

/**
 * Shows another view or state. `replace`: without a new entry in the browser's history, for changes with each
 * keystroke.
 */
export function show(view: View, params: Params, { replace = false } = {}): void {
  const hash = hashOf(view, params);
  if (hash === location.hash) return;
  if (replace) location.replace(hash);
  else location.hash = hash;
}
