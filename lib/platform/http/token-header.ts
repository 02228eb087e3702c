import * as z from 'zod/mini';

/** Headers that a token would break: those of the connection (RFC 9110, 7.6.1) and those that every request has. */
const OTHER_HEADERS =
  /^(accept(-encoding)?|connection|content-(encoding|length|type)|expect|host|keep-alive|proxy-(authorization|connection)|range|te|trailer|transfer-encoding|upgrade)$/i;

export const isOtherHeader = (name: string): boolean => OTHER_HEADERS.test(name);

export const tokenHeader = z.string({ error: 'a header name' }).check(
  z.regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'a header name' }),
  z.refine((name) => !isOtherHeader(name), {
    error: 'a header of its own, not one that the request or its connection needs',
  }),
);
