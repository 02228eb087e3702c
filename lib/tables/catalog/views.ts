import { endStates, jobTypes } from '../../jobs/types/index.ts';
import { relations } from '../../model/rules/index.ts';
import {
  alternatives,
  id,
  type Made,
  moment,
  momentOf,
  number,
  oneOf,
  text,
  word,
} from '../../snapshot/columns/index.ts';
import { consistencies, type Place, sources } from '../../snapshot/sources/index.ts';
import { recordViews } from './record-views.ts';
import { tableNames } from './table-names.ts';
import { AS_OF, epochMoment, latestModel, type View, viewOf } from './view.ts';

/** All SQL tables of a store with these places, in the order in which they are listed. */
export const viewsOver = (places: readonly Place[]): readonly View[] => [
  ...[...tableNames(places)].flatMap(([place, name]) => recordViews(place, name)),
  ...otherViews,
];

type Columns = Readonly<Record<string, Made>>;

const member = (column: string, name: string) => `json_extract_scalar(${column}, '$.${name}')`;
const numberIn = (name: string) => `TRY_CAST(${member('response', name)} AS bigint)`;

/** A chunk of a batch is a job of this name, also where its response says nothing. */
const BATCH = `coalesce(${member('response', 'batch')}, CASE WHEN type = 'score' AND id LIKE '%.chunk-%' THEN regexp_replace(id, '\\.chunk-[0-9]+$', '') END)`;

const run: Columns = {
  place: text('place', 'what was taken: a source, or a narrowed snapshot'),
  source: oneOf('source', sources),
  run: text('run', 'the name of the run', { guesses: ['id', 'run_id'] }),
  dt: text('dt', 'the day on which it began, as text', { guesses: ['day', 'date'] }),
  latest: ['boolean', 'latest', 'whether it is the latest of its place'],
  started_at: moment(momentOf('startedat'), 'when it began, in UTC'),
  finished_at: moment(momentOf('finishedat'), 'when it had read everything, in UTC'),
  records: number('records', 'how many records it has', { guesses: ['rows', 'count', 'total'] }),
  missing: number('missing', 'how many ids could not be read'),
  consistency: oneOf('consistency', consistencies, { guesses: ['status', 'state'] }),
  against: text('against', 'the run that it was compared with'),
  added: number('added', 'how many records that one lacks'),
  removed: number('removed', 'how many records of that one are gone'),
  changed: number('changed', 'how many records differ'),
  parts: number('parts', 'how many parts it has'),
  bytes: number('bytes', 'the size of its parts, compressed'),
  requests: number('requests', 'how many requests it took'),
  retries: number('retries', 'how many of these were retries'),
  throttled: number('throttled', 'how often the platform responded with 429'),
  parquetbytes: number('parquetbytes', 'the size of its Parquet; null until that is built'),
  other: number('other', 'how many values of its records are in _other'),
  forced: ['boolean', 'forced', 'whether it was published by force'],
  refused: ['array<string>', 'refused', 'the reasons for which it was to be refused'],
  platform: text('platform', 'the host of the platform'),
  startedat: moment(momentOf('startedat'), 'the same as started_at'),
  finishedat: moment(momentOf('finishedat'), 'the same as finished_at'),
};

const job: Columns = {
  job_id: text('id', 'the id of the job', { guesses: ['job', 'name'] }),
  // As it is stored, since Athena leaves out the folders of other types by it.
  type: text('type', alternatives(jobTypes), { values: jobTypes }),
  status: oneOf('status', Object.keys(endStates), { guesses: ['state', 'outcome'] }),
  error_kind: text(member('error', 'kind'), 'the kind of the error, if it has one', { guesses: ['kind'] }),
  error_message: text(member('error', 'message'), 'what went wrong, in words', {
    guesses: ['message', 'reason'],
  }),
  batch: text(BATCH, 'the batch that the job scored a chunk of'),
  chunk: number(numberIn('chunk'), 'the number of the chunk in its batch'),
  attempts: number('attempts', 'how often a send was started', { guesses: ['tries', 'retries'] }),
  started_at: moment(momentOf('startedat'), 'when the job was first claimed, in UTC'),
  finished_at: moment(momentOf('finishedat'), 'when it ended, in UTC'),
  id: text('id', 'the same as job_id'),
  startedat: text('startedat', 'the same as started_at, as text', {
    moment: 'started_at',
    guesses: ['created_at', 'created'],
  }),
  finishedat: text('finishedat', 'the same as finished_at, as text', {
    moment: 'finished_at',
    guesses: ['ended_at', 'completed_at'],
  }),
  sender: text('sender', 'who sent the message'),
  note: text('note', 'what a person said of the outcome'),
  error: text('error', 'the error, as JSON'),
  response: text('response', 'what the platform returned, as JSON', { guesses: ['result', 'output'] }),
  dt: text('dt', 'the day on which the job was first claimed, as text', { guesses: ['day', 'date'] }),
};

const score: Columns = {
  batch: text('batch', 'the batch'),
  text_id: text('id', 'your id of the text'),
  line: number('line', 'its line in your file', { guesses: ['row'] }),
  outcome: oneOf('outcome', ['scored', 'failed', 'cancelled', 'bad', 'erased'], {
    more: '; a bad row had no text to score',
    guesses: ['status', 'state'],
  }),
  sentiment: word(
    'sentiment',
    'the sentiment of the text as a whole, in lower case; null if it was scored by topics',
    { guesses: ['score'] },
  ),
  topic_sentiments: text(
    'topicsentiments',
    'topics and their sentiments in lower case, as JSON; a row each in score_topics',
    { guesses: ['topics', 'topic'] },
  ),
  sent: text('sent', 'the sentiments as the platform sent them, as JSON, where it spells them otherwise'),
  model: text('model', 'the model that scored it'),
  error: text('error', 'why it has no score'),
  erased: ['boolean', 'erased', 'true if the text was erased by `forget`'],
  columns: ['map<string,string>', 'columns', 'the columns of your file'],
  day: text('day', 'the day in the first of these that holds a date, as text', { guesses: ['date', 'dt'] }),
  calls: number('calls', 'calls that were paid for; of equal texts of a chunk the first has them'),
  cached: number('cached', '1 if it cost nothing, since its score was known'),
  paid_again: number('paidagain', 'calls that may have been paid for twice'),
  input_tokens: number('tokens.input', 'tokens that were sent'),
  output_tokens: number('tokens.output', 'tokens that were returned'),
  total_tokens: number('tokens.total', 'both together, as the platform counts', { guesses: ['tokens'] }),
  text_hash: text('texthash', 'the SHA-256 of the text'),
  chunk: number('chunk', 'the chunk of the batch that it was in'),
  id: text('id', 'the same as text_id'),
  texthash: text('texthash', 'the same as text_hash'),
  topicsentiments: text('topicsentiments', 'the same as topic_sentiments'),
};

const scoreTopic: Columns = {
  batch: text('s.batch', 'the batch'),
  text_id: text('s.id', 'your id of the text', { guesses: ['id'] }),
  line: number('s.line', 'its line in your file'),
  chunk: number('s.chunk', 'the chunk of the batch that it was in'),
  topic: text('t.topic', 'the topic; null if the text was scored as a whole'),
  sentiment: word(
    "coalesce(json_extract_scalar(t.value, '$'), s.sentiment)",
    'positive, negative, neutral or not_applicable',
  ),
  day: text('s.day', 'the day in the first column of the text that holds a date, as text', {
    guesses: ['date', 'dt', 'week'],
  }),
};

/** What is counted of the rows of a batch: by how they ended, then what they have cost. */
const counted = (outcomes: string) => `count(*) FILTER (WHERE s.outcome IN (${outcomes}))`;

const batch: Columns = {
  batch: text('coalesce(s.batch, j.batch)', 'the name of the batch', { guesses: ['name', 'id'] }),
  texts: number('coalesce(s.texts, 0)', 'how many rows it has in its parts', { guesses: ['rows', 'count'] }),
  scored: number('coalesce(s.scored, 0)', 'how many of them have a score'),
  failed: number('coalesce(s.failed, 0)', 'how many failed, those whose job was cancelled too', {
    guesses: ['failures', 'errors'],
  }),
  bad: number('coalesce(s.bad, 0)', 'how many had no text to score'),
  erased: number('coalesce(s.erased, 0)', 'how many were erased by `forget`'),
  first_day: text('j.first_day', 'the day of its first job; null if it was scored without jobs'),
  last_day: text('j.last_day', 'the day of its last job', { guesses: ['dt', 'day', 'finished_at'] }),
  chunks: number('coalesce(s.chunks, j.chunks, 0)', 'how many chunks of it have ended'),
  not_done: number('coalesce(j.not_done, 0)', 'how many of its jobs ended otherwise than done'),
  calls: number('s.calls', 'calls that were paid for'),
  cached: number('s.cached', 'texts that cost nothing, since their score was known'),
  paid_again: number('s.paid_again', 'calls that may have been paid for twice'),
  input_tokens: number('s.input_tokens', 'tokens that were sent'),
  output_tokens: number('s.output_tokens', 'tokens that were returned'),
  total_tokens: number('s.total_tokens', 'both together, as the platform counts', {
    guesses: ['tokens', 'cost'],
  }),
};

const BATCHES = `FROM (
  SELECT s.batch, count(*) AS texts, ${counted("'scored'")} AS scored, ${counted("'failed', 'cancelled'")} AS failed,
    ${counted("'bad'")} AS bad, ${counted("'erased'")} AS erased, count(DISTINCT s.chunk) AS chunks,
    ${['calls', 'cached', 'paid_again', 'input_tokens', 'output_tokens', 'total_tokens'].map((name) => `coalesce(sum(s.${name}), 0) AS ${name}`).join(', ')}
  FROM scores AS s WHERE s.batch IS NOT NULL GROUP BY s.batch
) AS s FULL JOIN (
  SELECT batch, min(dt) AS first_day, max(dt) AS last_day, count(*) AS chunks,
    count(*) FILTER (WHERE status <> 'done') AS not_done
  FROM jobs WHERE type = 'score' AND batch IS NOT NULL GROUP BY batch
) AS j ON s.batch = j.batch`;

const formula: Columns = {
  calculation_id: id('id', 'the calculation', ['id']),
  modified_at: moment(
    epochMoment('lastmodified'),
    'when our update changed it, by the clock of the platform, in UTC',
  ),
  name: text('name', 'its name then'),
  expression: text('expression', 'its formula from then on', { guesses: ['formula'] }),
  status: word('status', 'valid, or what the platform said instead, in lower case'),
  status_sent: text('status', 'the status as the platform sent it', { isWord: true }),
};

const change: Columns = {
  place: text('place', 'what changed: a source, or a narrowed snapshot'),
  dt: text('dt', 'the day of the run that found it'),
  run: text('run', 'the run that found it'),
  change: oneOf('change', ['added', 'removed', 'changed'], {
    guesses: ['type', 'kind', 'action', 'status'],
  }),
  key: id('key', 'the key of the record: its id, after FileSet or dataset and a slash where it has one', [
    'id',
    'record_id',
    'calculation_id',
  ]),
  name: text(
    `coalesce(${['path', 'name', 'title'].map((each) => member('coalesce(after, before)', each)).join(', ')})`,
    'its path, name or title',
  ),
  fields: ['array<string>', 'fields', 'the fields that differ', { guesses: ['field'] }],
  before: text('before', 'the record before, as JSON'),
  after: text('after', 'the record after, as JSON'),
};

const refused: Columns = {
  message_id: text('messageid', 'the id of the message on the queue'),
  sender: text('sender', 'who sent it'),
  sent_at: moment(momentOf('sentat'), 'when it was sent, in UTC'),
  faults: ['array<string>', 'faults', 'every reason why it is no job'],
  body: text('body', 'the message'),
  messageid: text('messageid', 'the same as message_id'),
  sentat: text('sentat', 'the same as sent_at, as text', { moment: 'sent_at' }),
};

const revision: Columns = {
  data_file_id: id('f.datafileid', 'the data file'),
  revision_id: id('r.datafilerevisionid', 'the id of the revision'),
  owner_id: id('r.uploaduserid', 'the id of the user who uploaded it'),
  owner_name: text('name_of_owner', 'the name of that user, if a card gives it'),
  size_bytes: number('r.sizebytes', 'its size in bytes', { guesses: ['size', 'bytes'] }),
  content_type: word('r.contenttype', 'its media type, in lower case'),
  scan_state: word('r.scanstate', 'what its scan found, in lower case'),
  uploaded_at: moment(epochMoment('r.datetimeuploaded'), 'when it was uploaded, in UTC'),
  md5: id('r.md5hash', 'its MD5'),
  sha256: id('r.sha256hashvalue', 'its SHA-256'),
};

const REVISIONS = `FROM stored_latest_data_files AS f CROSS JOIN UNNEST(f.revisions)
  AS r (datafilerevisionid, datafileid, contenttype, uploaduserid, sizebytes, uploadtimemillis, md5hash, datetimeuploaded, scanstate, sha256hashvalue)
  LEFT JOIN (SELECT user_id AS id_of_owner, name AS name_of_owner FROM owners) AS of_owner ON id_of_owner = lower(r.uploaduserid)`;

const fileset: Columns = {
  fileset_id: id('fileset_id', 'the id of the FileSet', ['id', 'fileset']),
  files: number("count(*) FILTER (WHERE coalesce(file_type, '') <> 'directory')", 'how many files it has'),
  directories: number("count(*) FILTER (WHERE file_type = 'directory')", 'how many directories it has', {
    guesses: ['folders'],
  }),
  size_bytes: number('sum(size_bytes)', 'the size of all files together, in bytes', {
    guesses: ['size', 'bytes'],
  }),
};

const cardDataset: Columns = {
  card_id: id('user_id', 'the card'),
  dataset_id: id('used_id', 'a dataset that it uses'),
};

const use: Columns = {
  user_kind: oneOf('user_kind', ['calculation', 'card'], {
    more: ': what uses',
    guesses: ['from_kind', 'user_type'],
  }),
  user_id: id('user_id', 'its id, as in calculation_id and card_id', [
    'from_id',
    'source_id',
    'calculation_id',
    'card_id',
    'user',
  ]),
  used_kind: oneOf('used_kind', ['calculation', 'card', 'dataset', 'column', 'other'], {
    more: ': what is used, and breaks its users if it goes',
    guesses: ['to_kind', 'used_type', 'kind'],
  }),
  used_id: id('used_id', 'its id; of a column, DATASET:COLUMN, in lower case; of another kind, TYPE:ID', [
    'to_id',
    'target_id',
    'dataset_id',
    'used',
    'id',
  ]),
  relation: oneOf('relation', relations, { more: ', read as user relation used', guesses: ['type'] }),
  validity: word('validity', 'what the link says of itself, in lower case; null if it says nothing', {
    guesses: ['valid', 'status'],
  }),
  broken: ['boolean', 'broken', 'whether that makes it a broken link'],
  stated_by: text('stated_by', 'the field that states it first'),
  stater_kind: word('stater_kind', 'the kind of the thing whose record states it'),
  stater_id: id('stater_id', 'the id of that thing'),
  as_of: AS_OF,
};

const dataset: Columns = {
  dataset_id: id('dataset_id', 'the id of the dataset', ['id', 'dataset']),
  cards: number('cards', 'how many cards use it'),
  calculations: number('calculations', 'how many calculations use it'),
  broken_links: number('broken_links', 'how many of both do so by a link that is broken'),
  as_of: AS_OF,
};

const owner: Columns = {
  user_id: id('user_id', 'the id of the user', ['id', 'owner', 'user']),
  name: text('name', 'the name, if a card gives it', { guesses: ['user_name', 'display_name'] }),
  owner_id: id('user_id', 'the same as user_id'),
  owner_name: text('name', 'the same as name'),
  calculations: number('calculations', 'how many calculations are theirs'),
  cards: number('cards', 'how many cards are'),
  files: number('files', 'how many files are'),
  data_files: number('data_files', 'how many data files are'),
  locked: number('locked', 'how many of the calculations are locked'),
  oldest_modified_at: moment(
    epochMoment('oldest_modified'),
    'when the calculation that was not touched for longest was last changed, in UTC',
  ),
  broken_links: number('broken_links', 'how many of the calculations and cards have broken links'),
  invalid: number('invalid', 'how many are invalid'),
  missing_target: number('missing_target', 'how many use what does not exist'),
  affected: number('affected', 'how many depend on such a thing'),
  unused: number('unused', 'how many of the calculations nothing uses'),
  as_of: AS_OF,
};

const USES = 'what uses what, each pair once, as the latest published runs state it';
const OWNERS = 'a user who owns something, with what is wrong with it';

/** The tables that are no place's. What the model says comes first: SQL holds no rule of it. */
export const otherViews: readonly View[] = [
  viewOf('uses', USES, use, `FROM ${latestModel('uses')} AS model`),
  viewOf('links', `${USES}: the same as uses`, use, `FROM ${latestModel('uses')} AS model`),
  viewOf('datasets', 'a dataset that something uses', dataset, `FROM ${latestModel('datasets')} AS model`),
  viewOf('owners', OWNERS, owner, `FROM ${latestModel('owners')} AS model`),
  viewOf('users', `${OWNERS}: the same as owners`, owner, `FROM ${latestModel('owners')} AS model`),
  viewOf(
    'card_datasets',
    'a dataset that a card uses',
    cardDataset,
    "FROM uses WHERE user_kind = 'card' AND used_kind = 'dataset'",
  ),
  viewOf(
    'filesets',
    'a FileSet of the latest published run of files',
    fileset,
    'FROM files GROUP BY fileset_id',
  ),
  viewOf('revisions', 'a revision of a data file, where they were asked for', revision, REVISIONS),
  viewOf('formulas', 'a formula that an update of ours stored', formula, 'FROM stored_formulas'),
  viewOf('jobs', 'a job that has ended', job, 'FROM stored_jobs'),
  viewOf('refused', 'a message that could not become a job', refused, 'FROM stored_refused'),
  viewOf('scores', 'a text of a batch, with its score', score, 'FROM stored_scores'),
  viewOf(
    'score_topics',
    'the sentiment of a topic in a text',
    scoreTopic,
    `FROM stored_scores AS s
  LEFT JOIN UNNEST(map_entries(try(CAST(json_parse(s.topicsentiments) AS map(varchar, json))))) AS t (topic, value) ON TRUE
  WHERE s.outcome = 'scored'`,
  ),
  viewOf('batches', 'a batch of scored texts, with what it has cost', batch, BATCHES),
  viewOf(
    'changes',
    'a record that a published run found added, removed or changed',
    change,
    'FROM stored_changes',
  ),
  viewOf('runs', 'a published run of any place', run, 'FROM stored_runs'),
];
