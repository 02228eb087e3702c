/**
 * What an error looks like: `{status, statusReason, path, message, toe}`, `{message}`, or a bare JSON string that is the
 * message.
 */
type ErrorShape = 'PlatformError' | 'MessageError' | 'TextError';

/** The shapes of an operation's errors. A 401 is a `PlatformError` everywhere. */
export type ErrorShapes = { readonly usual: ErrorShape; readonly forbidden: ErrorShape };

/** Of most operations, and of paths that belong to none. */
export const usualErrors: ErrorShapes = { usual: 'PlatformError', forbidden: 'PlatformError' };
