/**
 * A location without what may be a password: the user information of a URL, with or without its scheme, and a query.
 * For messages that name a location, which may have been given by mistake.
 */
export const hideUser = (location: string): string =>
  location.replace(/^([a-z][a-z0-9+.-]*:\/+)?.*@/is, '$1***@').replace(/\?.*$/s, '?***');
