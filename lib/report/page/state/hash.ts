import { useEffect, useState } from 'preact/hooks';

/** The name of each view in the navigation. */
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

export type View = keyof typeof viewTitles;

export type Params = Readonly<Record<string, string>>;

/** A view and its state. It is stored in the address after `#`, so that it can be shared: `calculations?flag=broken_links`. */
type Shown = { readonly view: View; readonly params: Params };

/** Parses the part of an address after `#`, with or without the `#`. An unknown view becomes the first view. */
export function parseHash(hash: string): Shown {
  const [, name = '', query = ''] = /^#?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const view = Object.hasOwn(viewTitles, name) ? (name as View) : 'health';
  return { view, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a view, with `#`. Empty parameters are left out. */
export function hashOf(view: View, params: Params = {}): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== ''));
  return query.size === 0 ? `#${view}` : `#${view}?${query}`;
}

/** The view and state of the address; updated when the address changes. */
export function useShown(): Shown {
  const [shown, setShown] = useState(() => parseHash(location.hash));
  useEffect(() => {
    const read = () => setShown(parseHash(location.hash));
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  return shown;
}

/** Shows another view or state. `replace`: adds no entry to the history, for changes with each keystroke. */
export function show(view: View, params: Params, { replace = false } = {}): void {
  const hash = hashOf(view, params);
  if (hash === location.hash) return;
  if (replace) location.replace(hash);
  else location.hash = hash;
}
