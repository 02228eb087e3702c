import * as z from 'zod/mini';
import { uuid, yesOrNo } from '../../../base/index.ts';
import {
  CANONICAL_ID,
  id,
  isWord,
  ownerName,
  sent,
  stored,
  storedId,
  storedWord,
  text,
  word,
} from '../../../columns.ts';
import { datasetsUsed, linkFields } from '../../../model/rules/index.ts';
import { calculations } from '../calculations/definition.ts';
import { defineSource, resumable } from '../source-definition.ts';

export const cards = defineSource({
  name: 'cards',
  operation: 'listCards',
  takes:
    'The cards of each dataset; without ids, of every dataset that the last published calculations link to.',
  fields: (list) => ({
    /** The ids of datasets, at most 10,000. Default: the datasets that the last published calculations link to. */
    datasets: z.optional(list(uuid, { error: 'a list of dataset ids', max: 10_000 })),
    /** Whether to include cards that use a dataset only in a drill. Default: true. */
    drill: z._default(yesOrNo, true),
  }),
  rules: [],
  narrowedBy: ({ datasets, drill }) => [
    datasets,
    drill === undefined || drill === true ? undefined : 'no-drill',
  ],
  ids: {
    field: 'datasets',
    linked: { from: calculations.name, fields: linkFields.calculations, idsIn: datasetsUsed },
  },
  async openScan({ drill }, { call, ids: datasetIds }) {
    const { cardsScan, fanOutPosition } = await import('./scan.ts');
    return resumable(cardsScan({ call, datasetIds, drill }), fanOutPosition);
  },
  kind: 'card',
  names: ['dataset', 'calculation', 'card', 'column'],
  described: { type: 'type', owner: 'ownerid' },
  table: {
    row: 'card of a dataset',
    guesses: ['charts', 'visualizations'],
    columns: {
      card_id: id(CANONICAL_ID, 'the id of the card; a card may be listed for several datasets'),
      type: storedWord('type', 'its type, in lower case', { guesses: ['card_type'] }),
      chart_type: word('charttype', 'the type of its chart, in lower case', { guesses: ['chart'] }),
      owner_id: id('ownerid', 'the id of the user who owns it', ['owner', 'user_id']),
      owner_name: ownerName(
        'coalesce(element_at(filter(owners, owner -> owner.id = ownerid), 1).displayname, name_of_owner)',
      ),
      dataset_id: id('coalesce(_datasetid, datasourceid)', 'the dataset that it was listed for', [
        'dataset',
        'datasource',
        'datasource_id',
      ]),
      type_sent: text('type', 'the type as the platform sent it', isWord),
      // The member exists only if it differs from datasourceId.
      _datasetId: storedId('the dataset that it was listed for, if that is not its own dataset'),
      id: storedId('the same as card_id'),
      urn: storedId('its name on the platform; for a drill dr:DRILL:ROOT'),
      chartType: sent('chart_type'),
      title: stored('string', 'its title', { guesses: ['name', 'card_name', 'card_title', 'card'] }),
      ownerId: storedId('the same as owner_id'),
      owners: stored(
        'array<struct<id:string,type:string,displayName:string>>',
        'users and groups that own it',
      ),
      access: stored('boolean', 'false for a card that the token may not open'),
      datasourceId: storedId('the dataset that it is built on'),
      // A drill that was inside a card has this member instead of datasourceId.
      datasetId: storedId('the dataset of a drill that was listed inside its card'),
    },
  },
  records: {
    key: { owner: ['_datasetId', 'datasourceId'], id: 'id', isInteger: true },
    label: 'title',
    volatile: [],
    sets: [],
  },
  options: [
    { field: 'datasets', flags: '--dataset <id>', help: 'a dataset; may be repeated', kind: 'list' },
    {
      field: 'datasets',
      flags: '--datasets-from <file>',
      help: 'a file with one dataset id a line, or a CSV; - reads standard input',
      kind: 'ids',
      ids: {
        columns: ['id', 'ids', 'datasetid', 'dataset', 'datasourceid'],
        isId: (text) => uuid.safeParse(text).success,
        expected: 'the id of a dataset, which is a UUID',
        flag: '--datasets-column',
      },
    },
    {
      field: 'datasets',
      flags: '--datasets-column <name>',
      help: 'the column of that CSV',
      kind: 'column',
    },
    { field: 'drill', flags: '--no-drill', help: 'leave out cards that use a dataset only in a drill' },
  ],
  examples: ['', '--dataset cd27b9a0-a9d4-446b-9b16-02103df7f112 --no-drill'],
  sample: ({ datasetIds }) => datasetIds.slice(0, 3).flatMap((id) => ['--dataset', id]),
});
