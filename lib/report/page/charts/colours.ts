/** Of Okabe and Ito, darker or lighter by the theme; `page.css` has them. */
export const colours = {
  added: 'var(--green)',
  changed: 'var(--blue)',
  removed: 'var(--vermillion)',
  positive: 'var(--green)',
  neutral: 'var(--grey)',
  negative: 'var(--vermillion)',
  not_applicable: 'var(--pale)',
  other: 'var(--purple)',
  plain: 'var(--blue)',
  waiting: 'var(--orange)',
} as const;
