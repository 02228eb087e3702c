/** The addresses of things in the platform, by their kinds, with `{id}`: the setting PLATFORM_LINKS. */
export type PlatformLinks = {
  readonly [Kind in 'calculation' | 'card' | 'dataset' | 'data-file']?: string | undefined;
};

/** The address of a thing in the platform; undefined for a kind without one. */
export function linkTo(links: PlatformLinks, kind: string, id: string): string | undefined {
  const address = Object.hasOwn(links, kind) ? links[kind as keyof PlatformLinks] : undefined;
  return address?.replaceAll('{id}', () => encodeURIComponent(id.toWellFormed()));
}
