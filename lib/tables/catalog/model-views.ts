import { AS_OF, epochMoment, latestModel, type Made, type View, viewOf } from './view.ts';

type Columns = Readonly<Record<string, Made>>;

const text = (name: string, about: string): Columns => ({ [name]: ['string', name, about] });
const count = (name: string, about: string): Columns => ({ [name]: ['bigint', name, about] });

const use: Columns = {
  ...text('user_kind', 'calculation, card or other: what uses'),
  ...text('user_id', 'its id, as in calculation_id and card_id'),
  ...text('used_kind', 'calculation, card, dataset or other: what is used, and breaks its users if it goes'),
  ...text('used_id', 'its id; of another kind, TYPE:ID'),
  ...text(
    'relation',
    'how, read as user relation used: saved on, used on, refers to, uses, built on, drills from, links to',
  ),
  ...text('validity', 'what the link says of itself; null if it says nothing'),
  broken: ['boolean', 'broken', 'whether that makes it a broken link'],
  ...text('stated_by', 'the field that states it first'),
  ...text('stater_kind', 'the kind of the thing whose record states it'),
  ...text('stater_id', 'the id of that thing'),
  as_of: AS_OF,
};

const dataset: Columns = {
  ...text('dataset_id', 'the id of the dataset'),
  ...count('cards', 'how many cards use it'),
  ...count('calculations', 'how many calculations use it'),
  ...count('broken_links', 'how many of both do so by a link that is broken'),
  as_of: AS_OF,
};

const owner: Columns = {
  ...text('user_id', 'the id of the user, as in owner_id'),
  ...text('name', 'the name, if a card gives it'),
  ...count('calculations', 'how many calculations are theirs'),
  ...count('cards', 'how many cards are'),
  ...count('files', 'how many files are'),
  ...count('data_files', 'how many data files are'),
  ...count('locked', 'how many of the calculations are locked'),
  oldest_modified_at: [
    'timestamp',
    epochMoment('oldest_modified'),
    'when the calculation that was not touched for longest was last changed, in UTC',
  ],
  ...count('broken_links', 'how many of the calculations and cards have broken links'),
  ...count('invalid', 'how many are invalid'),
  ...count('missing_target', 'how many use what does not exist'),
  ...count('affected', 'how many depend on such a thing'),
  ...count('unused', 'how many of the calculations nothing uses'),
  as_of: AS_OF,
};

const USES = 'what uses what, each pair once, as the latest published runs state it';
const OWNERS = 'a user who owns something, with what is wrong with it';

/** The tables of the model: what is said of things across records. SQL holds no rule of it. */
export const modelViews: readonly View[] = [
  viewOf('uses', USES, use, `FROM ${latestModel('uses')} AS model`),
  viewOf('links', `${USES}: the same as uses`, use, `FROM ${latestModel('uses')} AS model`),
  viewOf('datasets', 'a dataset that something uses', dataset, `FROM ${latestModel('datasets')} AS model`),
  viewOf('owners', OWNERS, owner, `FROM ${latestModel('owners')} AS model`),
  viewOf('users', `${OWNERS}: the same as owners`, owner, `FROM ${latestModel('owners')} AS model`),
];
