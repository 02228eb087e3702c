import { counts, HOURS } from './counts.ts';
import { type Month, monthOf } from './month.ts';
import { PRICED, type Priced, prices } from './prices.ts';
import { networks, type Size, sizes } from './sizes.ts';

const number = (value: number): string =>
  value.toLocaleString('en-US', value < 10 ? { maximumFractionDigits: 2 } : { maximumFractionDigits: 0 });

type Item = {
  readonly what: string;
  readonly of: readonly Priced[];
  readonly counted: (month: Month) => string;
};

/** The lines of each cost table. */
const items: readonly Item[] = [
  {
    what: 'Alarms',
    of: ['alarmMetric', 'email'],
    counted: ({ template, amounts }) =>
      `${template.alarms} alarms on ${template.alarmMetrics} metrics, ${number(amounts.email)} e-mails`,
  },
  {
    what: 'Metrics',
    of: ['customMetric'],
    counted: ({ amounts }) => `all together ${number(amounts.customMetric)} metric-months`,
  },
  {
    what: 'Dashboard',
    of: ['dashboard'],
    counted: ({ template }) => (template.dashboards === 0 ? 'none' : `${template.dashboards}`),
  },
  { what: 'Logs', of: ['logGb', 'logStoredGb'], counted: ({ amounts }) => `${number(amounts.logGb)} GB` },
  {
    what: 'The token, and keys of AWS',
    of: ['secret', 'secretRequest', 'kmsRequest'],
    counted: ({ template, amounts }) =>
      `${template.secrets === 0 ? 'a parameter' : `${template.secrets} secret`}, ${number(amounts.kmsRequest)} requests of keys`,
  },
  {
    what: 'Schedules',
    of: ['scheduleRun'],
    counted: ({ amounts }) => `${number(amounts.scheduleRun)} runs`,
  },
  {
    what: 'Lambda',
    of: ['lambdaGbSecond', 'lambdaRequest', 'durableOperation', 'durableWrittenGb', 'durableStoredGb'],
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
    of: ['s3Write', 's3Read', 's3Gb', 'tierSecondGb', 'tierThirdGb', 'tierObject', 'tierMove'],
    counted: ({ amounts }) =>
      `${number(amounts.s3Write)} writes, ${number(amounts.s3Read)} reads, ${number(amounts.s3Gb + amounts.tierSecondGb + amounts.tierThirdGb)} GB`,
  },
  { what: 'Events', of: ['event'], counted: ({ amounts }) => number(amounts.event) },
  {
    what: 'Catalog',
    of: ['glueObject', 'glueRequest'],
    counted: ({ amounts }) => `${number(amounts.glueObject)} tables and partitions`,
  },
  {
    what: 'Network',
    of: ['natHour', 'natGb', 'addressHour', 'endpointHour'],
    counted: ({ template }) =>
      [
        [template.natGateways, 'NAT gateway'],
        [template.addresses, 'address'],
        [template.endpointZones, 'zones of interface endpoints'],
      ]
        .filter(([count]) => count !== 0)
        .map((each) => each.join(' '))
        .join(', ') || 'none',
  },
];

const usd = (value: number) => value.toFixed(2);

/** All priced items that some line includes. */
export const itemized: readonly Priced[] = items.flatMap(({ of }) => of);

/** The cost of a size in its first month, or in the month after this number of months. */
export function costOf(size: Size, months = 1) {
  const month = monthOf(size, months);
  const rows = items.map(({ what, of, counted }) => ({ what, counted: counted(month), ...month.usd(of) }));
  return { rows, amounts: month.amounts, ...month.usd(itemized) };
}

/** The cost is shown for the first month, and again after this number of months. */
export const YEAR = 12;

function sectionOf(size: Size): string {
  const { rows, onDemand, afterFree } = costOf(size);
  const year = costOf(size, YEAR);
  const gb = year.amounts.s3Gb + year.amounts.tierSecondGb + year.amounts.tierThirdGb;
  const { nightly, jobsPerDay, textsPerMonth } = size.load;
  return `## ${size.name}

Each night ${number(nightly.calculations)} calculations, ${number(nightly.files)} files and the cards of ${number(nightly.datasets)} datasets, at ${size.instance.rate} requests a second; ${number(jobsPerDay)} jobs a day, ${number(textsPerMonth)} texts a month.

| | counted | on demand | after what is free |
|---|---|---|---|
${rows.map((row) => `| ${row.what} | ${row.counted} | ${usd(row.onDemand)} | ${usd(row.afterFree)} |`).join('\n')}
| **together** | | **${usd(onDemand)}** | **${usd(afterFree)}** |
| **after a year** | ${number(gb)} GB in S3 | **${usd(year.onDemand)}** | **${usd(year.afterFree)}** |`;
}

function networkRow(size: Size): string {
  const { rows, onDemand } = costOf(size);
  return `| ${size.name} | ${rows.find(({ what }) => what === 'Network')?.counted} | ${usd(onDemand)} |`;
}

/** The computed text of docs/cost.md. */
export const page = (): string => `<!-- generated by npm run bench -- cost: change test/infra/cost -->

# Cost

What an instance costs a month in US dollars, computed by \`npm run bench -- cost\` from the synthesized template, from what work needs (\`test/infra/cost/counts.ts\`, which says of each count whether it is measured, a rule of the code, or estimated), and from the on-demand prices in ${PRICED.region} of ${PRICED.on} (\`test/infra/cost/prices.ts\`). The configurations are in \`test/infra/cost/sizes.ts\`.

*On demand* is what the instance adds to the bill of an account that uses up elsewhere what AWS gives every account each month for ever: 10 metrics of alarms, 10 custom metrics, three dashboards, 5 GB of logs, 400,000 GB-s and a million invocations of Lambda, a million requests of SQS, 25 GB of DynamoDB. *After what is free* is the bill of an account that uses it for nothing else.

${sizes.map(sectionOf).join('\n\n')}

*After a year*: runs are stored for ever, with their Parquet; what is not read for 30 days costs a half, and after 90 a sixth. \`work/\`, results, scores, old versions and access logs stay as long as \`lifetimes\` says. \`lifetimes.runs\` limits runs.

## In a network

A network is paid by the hour, whatever it carries: a NAT gateway $${usd(prices.natHour * HOURS)} a month, its address $${usd(prices.addressHour * HOURS)}, an interface endpoint $${usd(prices.endpointHour * HOURS)} in each zone, a gigabyte through the NAT gateway $${usd(prices.natGb)}. Gateway endpoints of S3 and DynamoDB cost nothing.

| | | on demand |
|---|---|---|
${networks.map(networkRow).join('\n')}

## Not counted

- What the platform charges for its own work: texts cost credits.
- Data that leaves AWS, and queries: Athena costs $5 a terabyte read, Logs Insights $0.005 a gigabyte.

## What costs less

- Each metric that an alarm looks at costs $0.10: what AWS measures (the oldest job, both dead-letter queues) has an alarm each, and all that the logs say is one alarm for each severity, three in all. A query's alarm is counted as one metric; while problems are there, each is one. A condition with a \`threshold\` of its own in \`alarms.overrides\` costs $0.10 more.
- A dashboard costs $3 a month, unless the account has fewer than three: it is there above 20 requests a second, where it is a small part of all, or where \`dashboard\` is true. What it shows is in saved queries of CloudWatch without it, too.
- Metric filters cost nothing, and their metrics only for the hours in which something was wrong.
- \`tokenParameter\`: the token in a parameter costs nothing, in the stack's own secret $0.40.
- The report costs $0.08 by looking for publications, and up to $0.005 each time that it is written, for the results that it reads. \`writeReport: false\` saves that.
- The queue of code functions costs $0.26 by being polled, and $0.10 for the age of its oldest job. Without event rules it exists only where \`functionsQueue\` says so.
- \`textsQueue\` costs the same, and halves what Lambda costs for texts: it pays from 27,000 texts a month, times the rate.
`;
