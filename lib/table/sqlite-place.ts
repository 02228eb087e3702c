/** How a setting names a file of SQLite. */
const PREFIX = 'sqlite:';

/** The path in `sqlite:FILE`; undefined for the name of a DynamoDB table or the URL of a queue. */
export const sqlitePath = (place: string): string | undefined =>
  place.startsWith(PREFIX) ? place.slice(PREFIX.length) : undefined;
