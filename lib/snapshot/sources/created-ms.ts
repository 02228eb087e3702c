/** Epoch milliseconds as sent, or from ISO text (in UTC without a zone): only the order matters. NaN for anything else. */
export function createdMs(sent: unknown): number {
  if (typeof sent === 'number') return sent;
  const [, local, zone] = typeof sent === 'string' ? (ISO_TIME.exec(sent) ?? []) : [];
  return local === undefined ? Number.NaN : Date.parse(`${local.replace(' ', 'T')}${zone ?? 'Z'}`);
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/;
