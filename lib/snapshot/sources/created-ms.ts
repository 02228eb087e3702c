/**
 * When a record was created, in epoch milliseconds: as it was sent, or from ISO text, which is read as UTC if it has no
 * zone, since only the order matters. Anything finer is cut off: more records are then equal, but their order does not
 * change. NaN for anything else.
 */
export function createdMs(sent: unknown): number {
  if (typeof sent === 'number') return sent;
  const [, local, zone] = typeof sent === 'string' ? (ISO_TIME.exec(sent) ?? []) : [];
  return local === undefined ? Number.NaN : Date.parse(`${local.replace(' ', 'T')}${zone ?? 'Z'}`);
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/;
