import type { ComponentChildren } from 'preact';

type Props = { readonly label: string; readonly kind?: string; readonly children: ComponentChildren };

/** What is wider than a narrow window scrolls on its own, also by keyboard, so that the page never does. */
export function Scrolled({ label, kind = '', children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class={`scrolled ${kind}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
