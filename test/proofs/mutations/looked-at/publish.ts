import type { LookedAt } from '../report.ts';

/** The survivors of the group `publish` that need no test, and why. */
export const publish: readonly LookedAt[] = [
  {
    file: 'lib/snapshot/publish/manifest-key.ts',
    code: 'ifAbsent: true',
    to: ['false'],
    why: 'the type allows only true',
  },
  {
    file: 'lib/snapshot/publish/compose-parts.ts',
    code: 'from = { part: 0, frame: 0 }',
    to: ['{}'],
    why: 'no index is below undefined: nothing is left out, as from the beginning',
  },
  {
    file: 'lib/snapshot/publish/{compose-parts,open-part}.ts',
    code: 'freeMemory(body);',
    to: [';'],
    why: 'it frees memory sooner',
  },
  {
    file: 'lib/snapshot/publish/open-part.ts',
    code: 'free.push(filled);',
    to: [';'],
    why: 'the memory is not used again',
  },
  {
    file: 'lib/snapshot/publish/joined-frames.ts',
    code: 'if (isMending) await mend();',
    to: ['true'],
    why: 'nothing is being mended, so nothing is passed on',
  },
  {
    file: 'lib/snapshot/publish/publish-changes.ts',
    code: 'groups.at(-1)?.push(part)',
    to: ['groups.at(-1).push'],
    why: 'the first part begins a group; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/publish/publish-changes.ts',
    code: 'signal === undefined ? {} : { signal }',
    to: ['false'],
    why: 'a signal that is undefined is none',
  },
  {
    file: 'lib/snapshot/publish/mended-frames.ts',
    code: 'while (at < lines.byteLength)',
    to: ['at <= lines.byteLength'],
    why: 'at the end of the lines nothing is left, and less than a frame: it stops all the same',
  },
  {
    file: 'lib/snapshot/publish/mended-frames.ts',
    code: 'if (packer.openBytes() + lines.byteLength - added < MOST_FRAME_BYTES) break;',
    to: ['false', 'packer.openBytes() + lines.byteLength + added'],
    why: 'it looks at each line of what fits, and adds them together after the last',
  },
  {
    file: 'lib/snapshot/publish/publish.ts',
    code: 'isOver: () => false',
    to: ['() => undefined'],
    why: 'undefined is false enough',
  },
  {
    file: 'lib/snapshot/publish/publish.ts',
    code: 'if (publication !== undefined) return publication;',
    to: ['true'],
    why: 'a slice that is never over ends with a publication; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/publish/publish.ts',
    code: 'if (latest !== undefined && last.manifest !== undefined)',
    to: ['true'],
    why: 'a manifest is known only by latest.json; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/publish/publish.ts',
    code: 'accept = []',
    to: ['["Stryker was here"]'],
    why: 'no gate has this name',
  },
  {
    file: 'lib/snapshot/publish/last-publication.ts',
    code: 'latest: undefined, manifest: undefined, broken: undefined',
    to: ['{}'],
    why: 'a member that is missing reads as undefined',
  },
  {
    file: 'lib/snapshot/publish/last-publication.ts',
    code: 'etag: undefined }',
    to: ['{}'],
    why: 'a member that is missing reads as undefined',
  },
  {
    file: 'lib/snapshot/publish/publish-parts.ts',
    code: 'const underWay: Promise<void>[] = [];',
    to: ['["Stryker was here"]'],
    why: 'it is taken out first; as many parts as before are stored at the same time',
  },
  {
    file: 'lib/snapshot/publish/publish-parts.ts',
    code: 'if (recorded.length === 0) return [];',
    to: ['false'],
    why: 'this only saves a request',
  },
  {
    file: 'lib/snapshot/publish/withdraw-parts.ts',
    code: 'found !== undefined && found <= series',
    to: ['true'],
    why: 'undefined is at most no number; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/publish/publish-changes.ts',
    code: 'bucket < buckets.count',
    to: ['bucket <= buckets.count'],
    why: 'a bucket that is one too many is empty, so nothing is added',
  },
  {
    file: 'lib/snapshot/publish/publish-changes.ts',
    code: 'else if (keys.length === 1)',
    to: ['false'],
    why: 'the same bytes: to copy them is only cheaper',
  },
];
