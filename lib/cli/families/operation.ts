import type { CommandFamily } from '../command.ts';
import { decimalOption, numberOption, repeatable, sandboxLimit } from '../options/options.ts';

/** Commands for setup and operation. */
export const operation = {
  init: {
    description:
      'Ask for the address, the token and the store, test them, and write them to a settings file.',
    needsStore: false,
    options: [['--sandbox', 'ask nothing: write settings for the simulated platform that `sandbox` starts']],
    json: false,
    examples: ['init', 'init --sandbox'],
    load: () => import('../commands/init.ts'),
  },
  doctor: {
    description:
      'Check settings, host, token, clock, bucket, queue, table, catalog and permissions, in this order, and say how to fix what is wrong.',
    needsStore: false,
    examples: ['doctor', 'doctor --profile acme', 'doctor --json'],
    load: () => import('../commands/doctor.ts'),
  },
  pace: {
    description:
      'Show the request budget that all workers share, and how much of it is used; pause or resume all workers, reset throttling, or limit their rate.',
    options: [
      ['--pause', 'stop all workers from sending, within about a second, until --resume'],
      ['--resume', 'let all workers send again'],
      ['--reset', 'forget that the platform throttled: return to the full rate within a second'],
      [
        '--rate <n>',
        'limit all workers together to n requests a second; PLATFORM_RATE still applies if it is lower',
        decimalOption(0.001, 1e4),
      ],
    ],
    examples: ['pace', 'pace --pause', 'pace --rate 1'],
    load: () => import('../commands/pace.ts'),
  },
  sandbox: {
    description: 'Start the simulated platform on this machine, and print the settings for it.',
    needsStore: false,
    options: [
      ['--seed <n>', 'the seed of its records (default: 1)', numberOption(0, 4_294_967_295)],
      ['--calculations <n>', 'the number of its calculations (default: 20000)', numberOption(0, 10_000_000)],
      ['--latency <ms>', 'milliseconds to delay every response by (default: 0)', numberOption(0, 600_000)],
      [
        '--rate <n>',
        'requests a second that it accepts; any more get a 429 (default: no limit)',
        decimalOption(0.01, 1e5),
      ],
      [
        '--limit <[operation=]n/unit>',
        'another limit: 6/s in any second; 100/min or 5000/h in each minute or hour of the clock; score=0/s for one operation. Requests over it get a 429. May be repeated',
        repeatable(sandboxLimit),
      ],
      ['--faults <p>', 'the share of requests that fail, from 0 to 1 (default: 0)', decimalOption(0, 1)],
      [
        '--odd <p>',
        'the share of responses and records with unusual but legal shapes, from 0 to 1 (default: 0)',
        decimalOption(0, 1),
      ],
      ['--churn <n>', 'records added, changed or deleted per second (default: 0)', decimalOption(0, 1e4)],
    ],
    examples: [
      'sandbox > sandbox.env',
      'sandbox --rate 5 --faults 0.02 --latency 100',
      'sandbox --limit 100/min --limit score=0/s',
      'sandbox --odd 0.3',
    ],
    load: () => import('../commands/sandbox.ts'),
  },
  env: {
    description:
      'Print the settings of a deployed instance, from the outputs of its stack, as lines for --env-file.',
    needsStore: false,
    options: [
      ['--stack <name>', 'the name of the stack', String],
      [
        '--construct <id>',
        'if the stack has several instances: which one, by the beginning of the names of its outputs',
      ],
    ],
    examples: ['env --stack platform-sync-acme'],
    load: () => import('../commands/env.ts'),
  },
  completion: {
    description: 'Print a script that lets a shell complete commands, options and sources.',
    needsStore: false,
    arguments: [['<shell>', 'the shell', ['bash', 'zsh', 'fish']]],
    json: false,
    examples: ['completion bash', 'completion zsh', 'completion fish'],
    load: () => import('../commands/completion.ts'),
  },
} as const satisfies CommandFamily;
