import { quoted, shownText } from '../../base/index.ts';
import {
  columnsOfRuns,
  computeModel,
  type Description,
  describeNodes,
  hasLinks,
  type LastRun,
  lastRuns,
  type Model,
  modelOf,
  openModel,
} from '../../model/index.ts';
import { brokenFlags, canonicalId, flagBits, wrongFlags } from '../../model/rules/index.ts';
import {
  type Change,
  changesBetween,
  degradedWords,
  describeChanges,
  type Manifest,
  manifestOf,
  type PublishedRun,
  publishedRuns,
  refusedAs,
} from '../../snapshot/history/index.ts';
import { type Place, type Source, sourceOf, sources } from '../../snapshot/sources/index.ts';
import { compareKeys, type Store, StoredObjectError, unlessDamaged } from '../../store/index.ts';
import { flagWords, linkTo, type PlatformLinks } from '../facts.ts';
import { REPORT_PAGE_KEY } from '../stored-report.ts';

type BrokenFlag = (typeof brokenFlags)[number];

/** A printed message: a subject of fewer than 100 ASCII characters, and a text of several lines. */
export type PrintedDigest = { readonly subject: string; readonly text: string };

/** Sends a message to all recipients. Throws if no recipient received it. */
export type SendDigest = (digest: PrintedDigest) => Promise<void>;

/** Prints the subject and the text of a digest, for the terminal, topics and webhooks. */
export function printDigest(
  digest: Digest,
  options: {
    /** The location of the store, in the form of SYNC_STORE. */
    readonly location: string;
    /** Whether the store has a report. */
    readonly hasReport: boolean;
  },
): PrintedDigest {
  const { location, hasReport } = options;
  const { manifest, compared, changes, broken, newlyMissing } = digest;
  const { source: place, run } = manifest;
  const lines = [
    `${place}: run ${run} was published.`,
    '',
    `Platform: ${manifest.platform}`,
    `Taken: ${minute(manifest.startedAt)} to ${minute(manifest.finishedAt)} UTC`,
    `Records: ${count(manifest.records)}`,
    changedLine(compared),
    ...warningsOf(manifest),
    ...(broken === undefined ? [] : [wrongLine(broken)]),
    ...progressLine(digest.progress),
    ...brokenFlags.flatMap((flag) =>
      sectionOf(`New ${flagWords[flag].which}`, broken?.[flag].newly, `. ${flagWords[flag].meaning}`),
    ),
    ...sectionOf('Removed', changes?.removed),
    ...sectionOf('Added', changes?.added),
    ...sectionOf('Changed', changes?.changed),
    ...(manifest.missing.length === 0 ? [] : ['', `Could not be read: ${count(manifest.missing.length)}`]),
    ...sectionOf('No longer readable', newlyMissing),
    '',
    ...(hasReport
      ? [`Report: ${location}/${REPORT_PAGE_KEY}`, 'A link to it: npx platform-sync report --link']
      : ['All of it on one page: npx platform-sync report --open']),
    ...(compared === null
      ? []
      : [`All changes: npx platform-sync diff ${place} ${quoted(compared.against)} ${quoted(run)}`]),
    `(with SYNC_STORE=${location})`,
  ];
  return { subject: subjectOf(digest), text: lines.map(safeLine).join('\n') };
}

const wrongLine = (broken: BrokenThings | null): string =>
  broken === null
    ? 'What is broken is unknown: see the faults in the report.'
    : `Wrong in total: ${brokenFlags.map((flag) => `${thingsIn(broken[flag])} ${flagWords[flag].which}`).join(', ')}`;

/**
 * The progress of a clean-up: how many things are unused, and each other count of wrong things that changed, such as
 * `Clean-up: unused: 1,204, 310 fewer than 30 days ago`.
 */
function progressLine(progress: Digest['progress']): readonly string[] {
  if (progress === undefined) return [];
  const { before, daysAgo, ...last } = progress;
  const words = wrongFlags.flatMap((flag) => {
    const more = last.now[flag] - (before?.[flag] ?? 0);
    const isShown = flag === 'unused' || (before !== undefined && more !== 0);
    const differs =
      more === 0 ? 'as many as' : `${count(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'} than`;
    const than = before === undefined ? '' : `, ${differs} ${counted(daysAgo, 'day')} ago`;
    return isShown ? [`${flagWords[flag].label}: ${count(last.now[flag])}${than}`] : [];
  });
  return [`Clean-up: ${words.reverse().join('; ')}`];
}

/** Counts calculations and cards separately, as the report and SQL do. */
const thingsIn = ({ calculations, cards }: BrokenThings[BrokenFlag]): string =>
  [counted(calculations, 'calculation'), ...(cards === 0 ? [] : [counted(cards, 'card')])].join(' and ');

/** A number with its noun: `1 job`, `1,204 jobs`. */
export const counted = (of: number, noun: string): string => `${count(of)} ${noun}${of === 1 ? '' : 's'}`;

function changedLine(compared: Digest['compared']): string {
  if (compared === null) return 'It was compared with no other run.';
  const { against, added, removed, changed } = compared;
  if (added + removed + changed === 0) return `Nothing has changed since run ${against}.`;
  return `Since run ${against}: ${countsOf(compared)}`;
}

const warningsOf = ({ forced, refused, degradedPages, consistency }: Manifest): readonly string[] => [
  ...(forced
    ? [`It was published by force, even though it was refused: ${refusedAs({ refused, degradedPages })}`]
    : []),
  ...(consistency === 'proved'
    ? []
    : [`${['It is not proved to be complete', ...degradedWords(degradedPages)].join(': ')}.`]),
];

const countsOf = ({
  added,
  removed,
  changed,
}: {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}): string => `${count(added)} added, ${count(removed)} removed, ${count(changed)} changed`;

function sectionOf(heading: string, first: First | undefined, meaning = ''): readonly string[] {
  if (first === undefined || first.total === 0) return [];
  const more = first.total - first.items.length;
  return [
    '',
    `${heading}: ${count(first.total)}${meaning}`,
    ...first.items.flat().map((line) => `  ${line}`),
    ...(more === 0 ? [] : [`  and ${count(more)} more`]),
  ];
}

/** Maximum characters of a subject. SNS accepts fewer than 100. */
const MAX_SUBJECT_LENGTH = 99;
/** Maximum characters of the news in a subject, before the place. */
const MAX_NEWS_LENGTH = 75;

function subjectOf({ manifest, compared, broken }: Digest): string {
  const { source: place, platform, records } = manifest;
  const newly = brokenFlags.flatMap((flag) => {
    const total = broken?.[flag].newly?.total ?? 0;
    return total === 0 ? [] : [`${count(total)} ${flagWords[flag].which}`];
  });
  const changed = compared === null ? `${count(records)} records` : countsOf(compared);
  // The worst news comes first, since the rest may not fit.
  const what = [...newly.map((each, at) => `${at === 0 ? 'new: ' : ''}${each}`), changed].reduce(
    (all, each) => (all.length + each.length < MAX_NEWS_LENGTH ? `${all}, ${each}` : all),
  );
  const where = `${place} of ${platform}`.replaceAll(/[^ -~]/g, '?');
  const room = MAX_SUBJECT_LENGTH - what.length - ': '.length;
  return `${where.length <= room ? where : `${where.slice(0, Math.max(0, room - 3))}...`}: ${what}`;
}

const MAX_LINE_LENGTH = 400;

/** Matches the `://` of an address, except in lines that this program wrote, whose links are safe. */
const ADDRESS = /(?<!^(?:Report: |\(with SYNC_STORE=)s3|^ +in the platform: https?):\/\//g;

/**
 * Makes a line safe in a terminal and in a mail program: without control characters, characters that reverse
 * its direction, and addresses that would become links.
 */
export const safeLine = (line: string): string =>
  shownText(line, MAX_LINE_LENGTH)
    .replaceAll(ADDRESS, ': //')
    .replaceAll(/[\ufffe\uffff]/g, '\ufffd')
    .toWellFormed();

const minute = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

const count = (value: number): string => value.toLocaleString('en-US');

/** The beginning of a line with a thing's address in the platform. `safeLine` does not change such lines. */
const LINK_PREFIX = '  in the platform: ';

/** The news about one published run. */
type Digest = {
  readonly manifest: Manifest;
  /** The run that it was compared with (`against`), and how many records differ; null if it was not compared. */
  readonly compared: ({ readonly against: string } & ReturnType<typeof changeCounts>) | null;
  /** The first changes; undefined if it was not compared with another run, or the changes cannot be read. */
  readonly changes: Awaited<ReturnType<typeof firstChanges>> | undefined;
  /**
   * What is wrong according to the model, and what of this is new. Null if that is unknown; undefined for a source that
   * the model does not depend on.
   */
  readonly broken: BrokenThings | null | undefined;
  /** The ids that the run before could read, but this run could not; undefined if the run before is unknown. */
  readonly newlyMissing: First | undefined;
  /**
   * How many things are wrong now, and how many were a month ago. Undefined for a source that the model does not depend
   * on, or if the counts are unknown.
   */
  readonly progress: Awaited<ReturnType<typeof progressOf>>;
};

/**
 * Collects the digest of a run. Memory holds one model at a time. If something cannot be compared, it is left out.
 * Throws `StoredObjectError` if the run itself is damaged.
 */
export async function collectDigest(parts: {
  readonly store: Store;
  readonly place: Place;
  readonly run: string;
  /**
   * The run to compare with. Default: the run that this one was compared with when it was published, even if that run
   * is no longer published.
   */
  readonly old?: string | undefined;
  /** A time in epoch milliseconds, instead of `old`: the run is compared with the last one at that time. */
  readonly sinceMs?: number | undefined;
  /** The addresses of things in the platform. Default: no links. */
  readonly links?: PlatformLinks | undefined;
  readonly signal?: AbortSignal | undefined;
}): Promise<Digest> {
  const { old, sinceMs, run, ...options } = parts;
  const { store, place, links, signal } = options;
  const source = sourceOf(place);
  const published = await publishedRuns(store, place, { signal });
  const find = (name: string | null | undefined) => published.find((each) => each.run === name);
  const key = find(run)?.manifest;
  if (key === undefined) throw new StoredObjectError('missing', `${place}: run ${run} was removed`);
  const manifest = await manifestOf(store, key, { place, run });
  const wanted = { ...options, old: find(old)?.run, sinceMs, now: run, memoryBytes: COMPARING_BYTES };
  const found = await changesBetween(wanted).catch(unlessDamaged());
  const { steps, old: against = null } = found?.kind === 'found' ? found : {};
  const changes = steps && (await firstChanges(source, steps).catch(unlessDamaged()));
  const before = await runBefore(store, place, find(against));
  return {
    manifest,
    compared: against !== null && changes ? { against, ...changeCounts(changes) } : manifest.changes,
    changes,
    broken: await brokenThings({ store, run: { place, source, manifest, key }, before, links, signal }),
    newlyMissing: before && newlyMissing(manifest, before.manifest),
    progress: hasLinks(source) ? await progressOf(store, signal).catch(unlessDamaged()) : undefined,
  };
}

/** Progress is compared with the counts of this many days ago. */
const PROGRESS_DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * The counts of the last day and of an earlier day: the newest one at least 30 days before. Without such a
 * day, the earlier day is the first day, unless that is also the last.
 */
async function progressOf(store: Store, signal: AbortSignal | undefined) {
  const { days } = (await openModel({ store, now: Date.now, signal })).model;
  const now = days.at(-1);
  if (now === undefined) return undefined;
  const agoOf = ({ day }: { readonly day: string }) => (Date.parse(now.day) - Date.parse(day)) / DAY_MS;
  const before = days.findLast((each) => agoOf(each) >= PROGRESS_DAYS) ?? days[0];
  return before === undefined || before === now
    ? { now, before: undefined, daysAgo: 0 }
    : { now, before, daysAgo: agoOf(before) };
}

/** The memory for comparing records that are not in order, in bytes. */
const COMPARING_BYTES = 128_000_000;

/** How many lines a changed record may have: its name and a field. */
const MAX_LINES = 2;

/** The fields, of all sources, whose changes are listed first. */
const NOTABLE = new Set(
  'archived datasourceId expression links locked name owner path scanState status title'.split(' '),
);

const kindOf = (fields: readonly string[]) =>
  fields.some((name) => NOTABLE.has(name)) ? 'notable' : 'others';

const changeCounts = ({ added, removed, changed }: Awaited<ReturnType<typeof firstChanges>>) => ({
  added: added.total,
  removed: removed.total,
  changed: changed.total,
});

/** The first changes of each kind. Changed records with notable fields come first. */
async function firstChanges(source: Source, changes: AsyncIterable<Change>) {
  const none = () => ({ total: 0, items: [] as (readonly string[])[] });
  const first = { removed: none(), added: none(), notable: none(), others: none() };
  for await (const change of changes) {
    const list = first[change.change === 'changed' ? kindOf(change.fields) : change.change];
    list.total += 1;
    if (list.items.length < MAX_LISTED) list.items.push(cut(describeChanges(source, [change])));
  }
  const { removed, added, notable, others } = first;
  const items = [...notable.items, ...others.items].slice(0, MAX_LISTED);
  return { removed, added, changed: { total: notable.total + others.total, items } };
}

function cut(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_LINES;
  // Saying that one field was left out would take as much space as the field.
  return more <= 1 ? lines : [...lines.slice(0, MAX_LINES), `  and ${more} more fields`];
}

function newlyMissing({ missing }: Manifest, before: Pick<Manifest, 'missing'>): First {
  const known = new Set(before.missing.map(({ id }) => id));
  const newly = missing.filter(({ id }) => !known.has(id));
  return {
    total: newly.length,
    items: newly.slice(0, MAX_LISTED).map(({ id, status }) => [`${id}: ${status}`]),
  };
}

/** The run with which a run is compared; undefined if it is missing or damaged. */
async function runBefore(store: Store, place: Place, before: PublishedRun | undefined) {
  if (before === undefined) return undefined;
  const { run, manifest: key } = before;
  const manifest = await manifestOf(store, key, { place, run }).catch(unlessDamaged());
  return manifest && { place, source: sourceOf(place), manifest, key };
}

/** The first items of a list, each as lines. They contain strings of the platform, which `safeLine` makes safe. */
type First = { readonly total: number; readonly items: readonly (readonly string[])[] };

/**
 * For each flag, how many calculations and cards have it. `newly`: the things that did not have it before; undefined if
 * that is unknown.
 */
type BrokenThings = Readonly<
  Record<
    BrokenFlag,
    { readonly calculations: number; readonly cards: number; readonly newly: First | undefined }
  >
>;

type RunsToJudge = {
  readonly store: Store;
  readonly run: LastRun;
  /** The run to compare with. */
  readonly before: LastRun | undefined;
  readonly links?: PlatformLinks | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Maximum items of a list. */
const MAX_LISTED = 6;

/**
 * What is wrong in the model of a run, and which of these things were not wrong in the model of the run before. Both
 * models include the last run of each other source. Undefined for a source that no flag depends on. Null if one of
 * these runs is damaged; the report shows the damage.
 */
export async function brokenThings(options: RunsToJudge): Promise<BrokenThings | null | undefined> {
  if (!hasLinks(options.run.source)) return undefined;
  return (await compareModels(options).catch(unlessDamaged())) ?? null;
}

async function compareModels({ store, run, before, links = {}, signal }: RunsToJudge): Promise<BrokenThings> {
  const { runs: last } = await lastRuns(store, sources.filter(hasLinks));
  // The model of a narrowed run also includes the last runs of its source's other narrowed places, but no run of the
  // whole source.
  const others = last.filter(
    ({ place, source }) => source !== run.source || (place !== run.place && place !== source),
  );
  const columnsWith = (one: LastRun) =>
    columnsOfRuns({
      store,
      runs: [one, ...others].toSorted((a, b) => compareKeys(a.place, b.place)),
      signal,
    });
  const modelWith = async (one: LastRun) => modelOf(await computeModel(columnsWith(one)));
  // Of the model of the run before, memory keeps only what is wrong.
  const known = before && brokenIn(await modelWith(before));
  const model = await modelWith(run);
  const all = brokenIn(model);
  const counts = byFlag((flag) => ({
    calculations: nodesWith(model, flag, model.calculations.nodes).length,
    cards: nodesWith(model, flag, model.cards.nodes).length,
  }));
  const newlyWith = (flag: BrokenFlag) =>
    [...all[flag]].filter(([text]) => known?.[flag].has(text) === false);
  const firstWith = (flag: BrokenFlag) => newlyWith(flag).slice(0, MAX_LISTED);
  const listed = new Set(brokenFlags.flatMap(firstWith).map(([, node]) => node));
  const descriptions = await describeNodes(model, columnsWith(run), listed);
  const itemOf = (flag: BrokenFlag, node: number) => {
    const { kind, id } = model.things.thingAt(node);
    const address = linkTo(links, kind, id);
    const lines = linesOf(model, node, flag, descriptions.get(node));
    return address === undefined ? lines : [...lines, `${LINK_PREFIX}${address}`];
  };
  return byFlag((flag) => {
    const items = firstWith(flag).map(([, node]) => itemOf(flag, node));
    const { calculations, cards } = counts[flag];
    return { calculations, cards, newly: known && { total: newlyWith(flag).length, items } };
  });
}

const byFlag = <T>(of: (flag: BrokenFlag) => T) =>
  Object.fromEntries(brokenFlags.map((flag) => [flag, of(flag)])) as Readonly<Record<BrokenFlag, T>>;

const namedAt = ({ things }: Model, node: number) => Object.values(things.thingAt(node)).join(' ');

const nodesWith = ({ flags }: Model, flag: BrokenFlag, nodes: Uint32Array): Uint32Array =>
  nodes.filter((node) => ((flags[node] ?? 0) & flagBits[flag]) !== 0);

/** The nodes of the calculations and cards that have each flag, by kind and id. */
function brokenIn(model: Model) {
  const { calculations, cards } = model;
  return byFlag((flag) => {
    const nodes = [calculations, cards].flatMap((of) => [...nodesWith(model, flag, of.nodes)]);
    return new Map(nodes.map((node) => [namedAt(model, node), node] as const));
  });
}

/** The lines about a thing: its name and owner, and the first use that explains the flag. */
function linesOf(
  model: Model,
  node: number,
  flag: BrokenFlag,
  { name, owner }: Pick<Description, 'name' | 'owner'> = { name: null, owner: null },
): readonly string[] {
  const { things, graph, isMissing } = model;
  const { user, used, relationAt, validityAt, isBrokenAt, staterAt } = graph;
  const named = (of = node) => namedAt(model, of);
  const { kind, id } = things.thingAt(node);
  const known = model.owners.find(({ user_id }) => user_id === canonicalId(owner))?.name ?? owner;
  const first = `${kind} ${name === null ? '' : `${name} `}(${id})${known === null ? '' : `, of ${known}`}`;
  for (let edge = 0; edge < user.length; edge += 1) {
    const by = user[edge];
    const of = used[edge];
    if (by !== node && of !== node) continue;
    const stated = by === node ? `${relationAt(edge)} ${named(of)}` : `${named(by)} ${relationAt(edge)} it`;
    if (flag === 'broken_links' && isBrokenAt(edge) && staterAt(edge) === node)
      return [first, `  ${stated}: ${validityAt(edge)}`];
    if (flag === 'missing_target' && by === node && of !== node && isMissing(of ?? node))
      return [first, `  ${stated}, which no snapshot contains`];
  }
  return [first];
}
