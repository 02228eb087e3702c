import { readable, shortened } from './shown.ts';

/** A text of the platform: its direction is its own, and what is invisible in it is shown. */
export function Text({ of, most }: { readonly of: string; readonly most?: number }) {
  const text = readable(of);
  const short = most === undefined ? text : shortened(text, most);
  return <bdi title={short === text ? undefined : text}>{short === '' ? '(no name)' : short}</bdi>;
}
