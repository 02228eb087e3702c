import { expect, test } from 'vitest';
import { createTopicSender } from '../../../lib/report/digest/topic-sender.ts';
import { startTopics } from '../../local-aws/services/start-topics.ts';

const TOPIC = 'arn:aws:sns:eu-central-1:000000000000:digests';
const OTHER = 'arn:aws:sns:eu-central-1:000000000000:gone';

/** Publishes a digest to topics; only `TOPIC` exists. */
async function publish(topics: readonly string[], text = 'added A & <B> `c`') {
  await using server = await startTopics([TOPIC]);
  const warnings: string[] = [];
  const environment = {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  };
  const send = createTopicSender({ topics, environment, warn: (what) => void warnings.push(what) });
  await send({ subject: 'calculations: 1 added', text });
  return { published: server.published, warnings };
}

test('people get the report as text, and a Slack channel gets it in the JSON format of its service', async () => {
  const { published } = await publish([TOPIC]);

  expect(published.map(({ topic, subject }) => [topic, subject])).toEqual([[TOPIC, 'calculations: 1 added']]);
  expect(published[0]?.messages['default']).toBe('added A & <B> `c`');
  expect(JSON.parse(published[0]?.messages['https'] ?? '')).toEqual({
    version: '1.0',
    source: 'custom',
    content: {
      textType: 'client-markdown',
      title: 'calculations: 1 added',
      description: "```\nadded A &amp; &lt;B&gt; 'c'\n```",
    },
  });
});

test('the longest digest fits into an SNS message, and into the description for Slack', async () => {
  const { published } = await publish([TOPIC], '<\u20ac>'.repeat(20_000));

  const { content } = JSON.parse(published[0]?.messages['https'] ?? '');
  expect(content.description.length).toBeLessThanOrEqual(8_000);
});

test('a digest counts as sent once one SNS topic accepts it, and a topic that refuses it is named', async () => {
  const { published, warnings } = await publish([OTHER, TOPIC]);

  expect(published).toHaveLength(1);
  expect(warnings).toEqual(['a topic got no digest']);
  await expect(publish([OTHER])).rejects.toThrow(OTHER);
});
