import { counts } from './counts.ts';
import { type Month, monthOf } from './month.ts';
import { PRICED, type Priced } from './prices.ts';
import { type Size, sizes } from './sizes.ts';

const number = (value: number): string =>
  value.toLocaleString('en-US', value < 10 ? { maximumFractionDigits: 2 } : { maximumFractionDigits: 0 });

type Item = {
  readonly what: string;
  readonly of: readonly Priced[];
  readonly counted: (month: Month) => string;
};

/** The lines of each table. */
const items: readonly Item[] = [
  {
    what: 'Alarms',
    of: ['alarmMetric'],
    counted: ({ template }) => `${template.alarms} alarms on ${template.alarmMetrics} metrics`,
  },
  {
    what: 'Metrics',
    of: ['customMetric'],
    counted: ({ amounts }) => `all together ${number(amounts.customMetric)} metric-months`,
  },
  { what: 'Logs', of: ['logGb'], counted: ({ amounts }) => `${number(amounts.logGb)} GB` },
  {
    what: 'The token',
    of: ['secret'],
    counted: ({ template }) => (template.secrets === 0 ? 'a parameter' : `${template.secrets} secret`),
  },
  {
    what: 'Lambda',
    of: ['lambdaGbSecond', 'lambdaRequest', 'durableOperation'],
    counted: ({ amounts }) =>
      `${number(amounts.lambdaGbSecond)} GB-s, ${number(amounts.lambdaRequest)} invocations, ${number(amounts.durableOperation)} durable operations`,
  },
  {
    what: 'SQS',
    of: ['sqsRequest'],
    counted: ({ template, amounts }) =>
      `${number(amounts.sqsRequest)} requests, of them ${number(template.mappings * counts.pollsInMonth)} polls`,
  },
  {
    what: 'DynamoDB',
    of: ['dynamoWrite', 'dynamoRead', 'dynamoGb', 'recoveryGb'],
    counted: ({ amounts }) =>
      `${number(amounts.dynamoWrite)} writes, ${number(amounts.dynamoRead)} reads, ${number(amounts.dynamoGb)} GB and its point-in-time recovery`,
  },
  {
    what: 'S3',
    of: ['s3Write', 's3Read', 's3Gb', 'event'],
    counted: ({ amounts }) =>
      `${number(amounts.s3Write)} writes, ${number(amounts.s3Read)} reads, ${number(amounts.s3Gb)} GB for each month that runs stay, ${number(amounts.event)} events`,
  },
];

const usd = (value: number) => value.toFixed(2);

/** What a size costs a month. */
export function costOf(size: Size) {
  const month = monthOf(size);
  const rows = items.map(({ what, of, counted }) => ({ what, counted: counted(month), ...month.usd(of) }));
  return { rows, ...month.usd(items.flatMap(({ of }) => of)) };
}

function sectionOf(size: Size): string {
  const { rows, onDemand, afterFree } = costOf(size);
  const { nightly, jobsPerDay, textsPerMonth } = size.load;
  return `## ${size.name}

Each night ${number(nightly.calculations)} calculations, ${number(nightly.files)} files and the cards of ${number(nightly.datasets)} datasets, at ${size.instance.rate} requests a second; ${number(jobsPerDay)} jobs a day, ${number(textsPerMonth)} texts a month.

| | counted | on demand | after what is free |
|---|---|---|---|
${rows.map((row) => `| ${row.what} | ${row.counted} | ${usd(row.onDemand)} | ${usd(row.afterFree)} |`).join('\n')}
| **together** | | **${usd(onDemand)}** | **${usd(afterFree)}** |`;
}

/** docs/cost.md, as computed. */
export const page = (): string => `# Cost

What an instance costs a month in US dollars, computed by \`npm run bench -- cost\` from the synthesized template, from what work needs (\`test/infra/cost/counts.ts\`, which says of each count whether it is measured, a rule of the code, or estimated), and from the on-demand prices in ${PRICED.region} of ${PRICED.on} (\`test/infra/cost/prices.ts\`). This page is written by \`npm run bench -- cost\`, and a test compares them. The three configurations are in \`test/infra/cost/sizes.ts\`.

*On demand* is what the instance adds to the bill of an account that uses up elsewhere what AWS gives every account each month for ever: 10 metrics of alarms, 10 custom metrics, 5 GB of logs, 400,000 GB-s and a million invocations of Lambda, a million requests of SQS, 25 GB of DynamoDB. *After what is free* is the bill of an account that uses it for nothing else.

${sizes.map(sectionOf).join('\n\n')}

## Not counted

- What the platform charges for its own work: texts cost credits.
- The dashboard: the first three of an account, with up to 50 metrics each, are free. A further one costs $3.
- Data that leaves AWS, and queries: Athena costs $5 a terabyte read, Logs Insights $0.005 a gigabyte.
- \`fixedAddress\`: a NAT gateway and its address cost about $36 more.

## What costs less

- Alarms and metrics are most of it. An alarm on an expression pays for each metric in it, so one alarm made of several costs as much as they do. \`alarms.overrides\` turns off those that an instance does not need.
- A place with \`SnapshotMissing\` costs $0.10, its alarm: the metric has data only while a snapshot is missing.
- \`tokenParameter\`: the token in a parameter costs nothing, in the stack's own secret $0.40.
- The report costs $0.23, of which $0.10 is its alarm, and up to $0.005 each time that it is written, for the results that it reads. \`writeReport: false\` saves that.
- The queue of code functions costs $0.26 by being polled. Without event rules it exists only where \`functionsQueue\` says so.
`;
