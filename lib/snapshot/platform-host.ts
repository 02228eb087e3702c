const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/**
 * True if two hosts, as manifests name them, are one platform. Two hosts on loopback are: a local platform may have
 * another port with each start.
 */
export const isSamePlatform = (one: string, other: string): boolean =>
  one === other || (LOOPBACK.test(one) && LOOPBACK.test(other));
